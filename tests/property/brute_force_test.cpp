// Compares interval algebra, the timeline and the formulas with loops that count.
#include "analyses/analysis.h"
#include "base/interval_set.h"
#include "model/ops/op_model.h"
#include "sanitized.h"
#include "trace_builder.h"

#include <bitset>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <random>

namespace rankscope {
namespace {

using Random = std::mt19937;
constexpr std::size_t kSpan = 400;
using Bits = std::bitset<kSpan>;

std::vector<Interval> random_intervals(Random& random, Bits& bits) {
  std::vector<Interval> out;
  const std::size_t n = random() % 12;
  for (std::size_t i = 0; i < n; ++i) {
    const auto start = static_cast<std::int64_t>(random() % (kSpan - 60));
    const auto end = start + static_cast<std::int64_t>(random() % 60); // some are empty
    out.push_back({start, end});
    for (std::int64_t t = start; t < end; ++t)
      bits.set(static_cast<std::size_t>(t));
  }
  return out;
}

Bits bits_of(const IntervalSet& set) {
  Bits bits;
  std::int64_t last = -1;
  for (const Interval& i : set.intervals()) {
    EXPECT_LT(last, i.start); // sorted, disjoint, adjacent ones joined
    EXPECT_LT(i.start, i.end);
    last = i.end;
    for (std::int64_t t = i.start; t < i.end; ++t)
      bits.set(static_cast<std::size_t>(t));
  }
  return bits;
}

TEST(BruteForce, IntervalSet) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    Bits x;
    Bits y;
    const IntervalSet a(random_intervals(random, x));
    const IntervalSet b(random_intervals(random, y));
    ASSERT_EQ(bits_of(a), x);
    ASSERT_EQ(a.length(), static_cast<std::int64_t>(x.count()));
    ASSERT_EQ(bits_of(a.minus(b)), x & ~y);
    ASSERT_EQ(bits_of(a.intersect(b)), x & y);
    ASSERT_EQ(bits_of(a.unite(b)), x | y);
    const auto from = static_cast<std::int64_t>(random() % kSpan);
    const auto to = from + static_cast<std::int64_t>(random() % (kSpan - 1));
    std::int64_t covered = 0;
    for (std::int64_t t = from; t < std::min<std::int64_t>(to, kSpan); ++t)
      covered += x[static_cast<std::size_t>(t)] ? 1 : 0;
    ASSERT_EQ(a.covered(from, to), covered);
  }
}

TEST(BruteForce, Timeline) {
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    test::TraceBuilder b;
    Bits compute;
    Bits comm;
    const std::size_t n = 1 + random() % 20;
    for (std::size_t i = 0; i < n; ++i) {
      const bool nccl = random() % 3 == 0;
      const std::size_t start = random() % (kSpan - 60);
      const std::size_t dur = 1 + random() % 50;
      b.op("op", 1000.0 * static_cast<double>(i), 10)
          .kernel(nccl ? "ncclDevKernel_AllReduce" : "gemm", 1000.0 * static_cast<double>(i) + 1,
                  static_cast<double>(start), static_cast<double>(dur),
                  static_cast<int>(random() % 4));
      for (std::size_t t = start; t < start + dur; ++t)
        (nccl ? comm : compute).set(t);
    }
    auto report = build_report(b.load(), {});
    ASSERT_TRUE(report);
    const Table* table = report->find("gpu_timeline");
    ASSERT_NE(table, nullptr);
    std::map<std::string, double> us;
    for (std::size_t r = 0; r < table->rows(); ++r)
      us[std::string(table->at(r, 0).text)] = table->at(r, 1).number() * 1e3;
    const Bits all = compute | comm;
    std::size_t first = 0;
    while (!all[first])
      ++first;
    std::size_t last = kSpan;
    while (!all[last - 1])
      --last;
    const auto count = [](const Bits& bits) { return static_cast<double>(bits.count()); };
    EXPECT_NEAR(us.at("computation_time"), count(compute), 1e-9);
    EXPECT_NEAR(us.at("exposed_comm_time"), count(comm & ~compute), 1e-9);
    EXPECT_NEAR(us.at("total_comm_time"), count(comm), 1e-9);
    EXPECT_NEAR(us.at("busy_time"), count(all), 1e-9);
    EXPECT_NEAR(us.at("total_time"), static_cast<double>(last - first), 1e-9);
    EXPECT_NEAR(us.at("idle_time"), static_cast<double>(last - first) - count(all), 1e-9);
  }
}

double flops(const char* op, const std::string& dims, const std::string& concrete = "[]") {
  const OpInfo* info = find_op(op);
  EXPECT_NE(info, nullptr) << op;
  const auto r =
      evaluate(*info, ParsedArgs(dims, R"(["float","float","float"])", "", concrete), {}, false);
  EXPECT_TRUE(r) << op << dims;
  return r ? r->flops : -1;
}

TEST(BruteForce, MatrixProducts) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const int m = 1 + static_cast<int>(random() % 9);
    const int n = 1 + static_cast<int>(random() % 9);
    const int k = 1 + static_cast<int>(random() % 9);
    const int batch = 1 + static_cast<int>(random() % 4);
    double count = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        for (int l = 0; l < k; ++l)
          count += 2;
    EXPECT_EQ(flops("aten::mm", fmt::format("[[{},{}],[{},{}]]", m, k, k, n)), count);
    EXPECT_EQ(flops("aten::bmm", fmt::format("[[{},{},{}],[{},{},{}]]", batch, m, k, batch, k, n)),
              batch * count);
  }
}

TEST(BruteForce, Convolutions) {
  Random random(9);
  for (int round = 0; round < 200; ++round) {
    const int groups = 1 + static_cast<int>(random() % 2);
    const int in = groups * (1 + static_cast<int>(random() % 3));
    const int out = groups * (1 + static_cast<int>(random() % 3));
    const int h = 4 + static_cast<int>(random() % 6);
    const int w = 4 + static_cast<int>(random() % 6);
    const int kernel = 1 + static_cast<int>(random() % 3);
    const int stride = 1 + static_cast<int>(random() % 3);
    const int padding = static_cast<int>(random() % 2);
    const int dilation = 1 + static_cast<int>(random() % 2);
    const int reach = dilation * (kernel - 1);
    if (h + 2 * padding <= reach || w + 2 * padding <= reach)
      continue;
    double count = 0;
    for (int o = 0; o < out; ++o)
      for (int y = -padding; y + reach < h + padding; y += stride)
        for (int x = -padding; x + reach < w + padding; x += stride)
          for (int c = 0; c < in / groups; ++c)
            for (int tap = 0; tap < kernel * kernel; ++tap)
              count += 2; // like the formula, counts products with the padding
    EXPECT_EQ(flops("aten::convolution",
                    fmt::format("[[1,{},{},{}],[{},{},{},{}],[],[],[],[],[],[],[]]", in, h, w, out,
                                in / groups, kernel, kernel),
                    fmt::format(R"(["","","","[{0}, {0}]","[{1}, {1}]","[{2}, {2}]","False",)"
                                R"("[0, 0]","{3}"])",
                                stride, padding, dilation, groups)),
              count)
        << round;
  }
}

TEST(BruteForce, Attention) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    const int batch = 1 + static_cast<int>(random() % 3);
    const int heads = 1 + static_cast<int>(random() % 4);
    const int n = 1 + static_cast<int>(random() % 20);
    const int d = 1 + static_cast<int>(random() % 16);
    double all = 0;
    double causal = 0;
    for (int bh = 0; bh < batch * heads; ++bh)
      for (int q = 0; q < n; ++q)
        for (int k = 0; k < n; ++k) {
          const double pair = 2 * d + 2 * d; // one column of QK^T, one row of PV
          all += pair;
          causal += k < q ? pair : k == q ? pair / 2 : 0; // half of the square
        }
    const std::string shape = fmt::format("[{},{},{},{}]", batch, heads, n, d);
    const std::string dims = "[" + shape + "," + shape + "," + shape + "]";
    EXPECT_EQ(
        flops("aten::_scaled_dot_product_flash_attention", dims, R"(["","","","0.","False"])"),
        all);
    EXPECT_EQ(flops("aten::_scaled_dot_product_flash_attention", dims, R"(["","","","0.","True"])"),
              causal);
  }
}

/// For random arguments, the result must be empty, or finite and not negative.
TEST(Models, RandomArgumentsGiveSaneNumbersOrNone) {
  Random random(17);
  const auto shape = [&] {
    std::string out = "[";
    const std::size_t rank = random() % 6;
    for (std::size_t i = 0; i < rank; ++i)
      out += (i > 0 ? "," : "") +
             std::to_string(random() % 9 == 0 ? random() % 3 : 1 + random() % 4096);
    return out + "]";
  };
  const char* const types[] = {"c10::BFloat16", "float",    "c10::Float8_e4m3fn", "Scalar", "",
                               "unsigned char", "who knows"};
  const char* const values[] = {"",   "True",          "False",  "0",      "1",    "2",   "-1",
                                "64", "[1]",           "[2, 2]", "[0, 0]", "[-1]", "0.5", "nan",
                                "x",  "[True, False]", "1e9"};
  const char* const notes[] = {
      "", "execute_9_context_2(sq5sk8sqsq25sqsk40)_generation_4(sq4sk64sqsq4sqsk64)",
      "step[DECODE bs=4]", "step[EXTEND bs=2 toks=100]"};
  constexpr std::size_t kRounds = test::kSanitized ? 30 : 150;
  std::size_t numbers = 0;
  for (const OpInfo& op : modelled_ops())
    for (std::size_t round = 0; round < kRounds; ++round) {
      std::string dims = "[";
      std::string kinds = "[";
      std::string concrete = "[";
      const std::size_t n = 1 + random() % 20;
      for (std::size_t i = 0; i < n; ++i) {
        const char* const comma = i > 0 ? "," : "";
        dims += comma + (random() % 12 == 0 ? "[" + shape() + "," + shape() + "]" : shape());
        kinds += fmt::format("{}\"{}\"", comma, types[random() % std::size(types)]);
        concrete += fmt::format("{}\"{}\"", comma, values[random() % std::size(values)]);
      }
      ModelHints hints;
      hints.annotation = notes[random() % std::size(notes)];
      hints.kernel = random() % 2 == 0 ? "fp8_kernel_swiglu" : "other";
      hints.topk = static_cast<std::int64_t>(random() % 5);
      const auto r = evaluate(op, ParsedArgs(dims + "]", kinds + "]", "", concrete + "]"), hints,
                              random() % 2 == 0);
      if (!r)
        continue;
      for (const double v : {r->flops, r->bytes, r->flops_bwd, r->bytes_bwd}) {
        ASSERT_TRUE(std::isnan(v) || (v >= 0 && std::isfinite(v)))
            << op.name << " " << v << " " << dims << " " << kinds << " " << concrete;
        numbers += std::isnan(v) ? 0 : 1;
      }
    }
  EXPECT_GT(numbers, 60 * kRounds);
}

} // namespace
} // namespace rankscope
