// Tests the division of power among kinds of GPU work with hand-calculated values, and against a
// slow implementation on random traces.
#include "app/kernel_energy.h"
#include "app/report_energy.h"
#include "trace_builder.h"

#include <map>
#include <random>
#include <set>

namespace rankscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;
const char* const kGemm = "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1";
const char* const kComm = "ncclDevKernel_Generic_4";

LoadedTrace on_unix_time(const test::TraceBuilder& builder) {
  LoadedTrace out = builder.load();
  out.trace.sources[0].clock = {ClockDomain::kUnix, 0};
  return out;
}

SampledPower power_of(std::vector<PowerSample> samples, std::int64_t gap_ns) {
  SampledPower out;
  out.gpus[0] = std::move(samples);
  out.longest_gap_ns = gap_ns;
  return out;
}

std::map<WorkKind, KernelEnergy> by_kind(const std::vector<KernelEnergy>& rows) {
  std::map<WorkKind, KernelEnergy> out;
  for (const KernelEnergy& row : rows)
    EXPECT_TRUE(out.emplace(row.kind, row).second);
  return out;
}

TEST(KernelEnergy, ByHand) {
  // times in ms: GEMM [1, 3], all-reduce [2, 4], idle until 5, copy [5, 6]; 100 W until 4.5, then
  // 200 W
  test::TraceBuilder b;
  b.kernel(kGemm, 500, 1000, 2000, 7)
      .kernel(kComm, 510, 2000, 2000, 8)
      .copy("Memcpy DtoH", 520, 5000, 1000);
  const LoadedTrace trace = on_unix_time(b);
  const auto rows = by_kind(kernel_energy(
      trace,
      power_of({{0, 100}, {4500 * kMs / 1000, 100}, {4500 * kMs / 1000, 200}, {10 * kMs, 200}},
               10 * kMs)));
  ASSERT_EQ(rows.size(), 5U);
  // each has 1 ms alone and half of 1 ms: 0.1 + 0.05 J
  EXPECT_NEAR(rows.at(WorkKind::kGemm).joules.value(), 0.15, 1e-12);
  EXPECT_NEAR(rows.at(WorkKind::kCommunication).joules.value(), 0.15, 1e-12);
  EXPECT_DOUBLE_EQ(rows.at(WorkKind::kGemm).busy_ms, 2);
  EXPECT_NEAR(rows.at(WorkKind::kGemm).mean_w.value(), 100, 1e-9);
  EXPECT_NEAR(rows.at(WorkKind::kIdle).joules.value(), 0.05 + 0.1, 1e-12);
  EXPECT_NEAR(rows.at(WorkKind::kCopy).joules.value(), 0.2, 1e-12);
  EXPECT_NEAR(rows.at(WorkKind::kAll).joules.value(), 0.65, 1e-12);
  EXPECT_NEAR(rows.at(WorkKind::kAll).busy_ms, 5, 1e-12);
  EXPECT_NEAR(rows.at(WorkKind::kCopy).percent.value(), 100 * 0.2 / 0.65, 1e-9);
  EXPECT_DOUBLE_EQ(rows.at(WorkKind::kAll).covered_percent, 100);
}

TEST(KernelEnergy, WhatNoSampleCoversHasNoJoules) {
  test::TraceBuilder b;
  b.kernel(kGemm, 500, 1000, 2000).kernel("vector_add", 520, 6000, 1000);
  const LoadedTrace trace = on_unix_time(b);
  // samples from 2 ms to 4 ms, then a gap until 9 ms
  const auto rows = by_kind(
      kernel_energy(trace, power_of({{2 * kMs, 50}, {4 * kMs, 50}, {9 * kMs, 50}}, 2 * kMs)));
  EXPECT_NEAR(rows.at(WorkKind::kGemm).joules.value(), 0.05, 1e-12); // half of the GEMM
  EXPECT_DOUBLE_EQ(rows.at(WorkKind::kGemm).covered_percent, 50);
  EXPECT_NEAR(rows.at(WorkKind::kGemm).mean_w.value(), 50, 1e-9);
  EXPECT_FALSE(rows.at(WorkKind::kCompute).joules.has_value());
  EXPECT_DOUBLE_EQ(rows.at(WorkKind::kCompute).covered_percent, 0);

  SampledPower other = power_of({{0, 50}, {9 * kMs, 50}}, 9 * kMs);
  other.gpu_of_device = {{0, 4}};
  const auto none = kernel_energy(trace, other);
  ASSERT_FALSE(none.empty());
  EXPECT_FALSE(none[0].gpu.has_value());
  EXPECT_FALSE(none[0].joules.has_value());
  EXPECT_TRUE(kernel_energy(b.load(), other).empty()); // the clock is unknown
}

/// Returns the energy by kind, added for every microsecond separately.
std::map<WorkKind, double> slow_joules(const Trace& t, const std::vector<PowerSample>& samples,
                                       std::int64_t gap_ns) {
  std::map<WorkKind, double> out;
  const auto kind_of = [&](EventId e) {
    return t.events.category[e] == Category::kGpuMemcpy        ? WorkKind::kCopy
           : t.name(e).find("nccl") != std::string_view::npos  ? WorkKind::kCommunication
           : t.name(e).find("Cijk_") != std::string_view::npos ? WorkKind::kGemm
                                                               : WorkKind::kCompute;
  };
  std::int64_t first = INT64_MAX, last = 0;
  for (EventId e = 0; e < t.events.size(); ++e)
    if (t.gpu(e) && t.events.dur_ns[e] > 0) {
      first = std::min(first, t.events.ts_ns[e]);
      last = std::max(last, t.end_ns(e));
    }
  for (std::int64_t at = first; at < last; at += 1000) {
    std::optional<double> watts; // in the middle of the microsecond
    for (std::size_t i = 1; i < samples.size(); ++i)
      if (samples[i - 1].unix_ns <= at && at < samples[i].unix_ns &&
          samples[i].unix_ns - samples[i - 1].unix_ns <= gap_ns)
        watts = samples[i - 1].watts +
                static_cast<double>(at + 500 - samples[i - 1].unix_ns) /
                    static_cast<double>(samples[i].unix_ns - samples[i - 1].unix_ns) *
                    (samples[i].watts - samples[i - 1].watts);
    std::set<WorkKind> running;
    for (EventId e = 0; e < t.events.size(); ++e)
      if (t.gpu(e) && t.events.ts_ns[e] <= at && at < t.end_ns(e))
        running.insert(kind_of(e));
    if (running.empty())
      running.insert(WorkKind::kIdle);
    for (const WorkKind kind : running)
      out[kind] += watts.value_or(0) * 1e-6 / static_cast<double>(running.size());
    out[WorkKind::kAll] += watts.value_or(0) * 1e-6;
  }
  return out;
}

TEST(KernelEnergy, AgreesWithASlowTwin) {
  std::mt19937 random(20261122);
  const auto up_to = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 20; ++round) {
    test::TraceBuilder b;
    const char* const names[] = {kGemm, kComm, "vector_add"};
    for (int i = 0; i < 12; ++i)
      b.kernel(names[up_to(3)], i, 100 + up_to(400), up_to(60), 7 + i);
    b.copy("Memcpy DtoH", 20, 100 + up_to(400), 30);
    std::vector<PowerSample> samples;
    for (std::int64_t at = up_to(200) * 1000; at < 700'000; at += (1 + up_to(80)) * 1000)
      samples.push_back({at, 300.0 + up_to(20)}); // small differences: not aliased
    const LoadedTrace trace = on_unix_time(b);
    constexpr std::int64_t kGap = 60'000;
    const auto slow = slow_joules(trace.trace, samples, kGap);
    const auto rows = by_kind(kernel_energy(trace, power_of(samples, kGap)));
    for (const auto& [kind, joules] : slow)
      EXPECT_NEAR(rows.at(kind).joules.value_or(0), joules, 1e-9) << round;
    double sum = 0;
    for (const auto& [kind, row] : rows)
      if (kind != WorkKind::kAll)
        sum += row.joules.value_or(0);
    EXPECT_NEAR(sum, rows.at(WorkKind::kAll).joules.value_or(0), 1e-9);
  }
}

TEST(ReportEnergy, AddsTheSheetsThatAreAskedForOrSaysWhyNot) {
  const test::TempFolder folder;
  const std::string table =
      folder.write("p.csv", "timestamp, index, power.draw [W]\n0.000, 0, 100.00 W\n"
                            "0.004, 0, 100.00 W\n0.008, 0, 100.00 W\n");
  test::TraceBuilder b;
  b.annotation("ProfilerStep#1", 900, 4000).kernel(kGemm, 1000, 2000, 1000);
  const LoadedTrace trace = on_unix_time(b);
  const auto add = [&](const LoadedTrace& t, const std::string& gpus,
                       const std::set<std::string>& sheets) {
    Report report;
    const auto done = add_energy(t, traced_steps(t), table, gpus, sheets, report);
    EXPECT_TRUE(done.has_value());
    return report;
  };
  const Report both = add(trace, "", {});
  ASSERT_NE(both.find("step_energy"), nullptr);
  EXPECT_NEAR(both.find("step_energy")->at(0, "joules").number(), 0.4, 1e-12);
  ASSERT_NE(both.find("kernel_energy"), nullptr);
  EXPECT_NEAR(both.find("kernel_energy")->at(0, "joules").number(), 0.1, 1e-12);
  EXPECT_EQ(both.find("kernel_energy")->at(0, "kind").text, "GEMM");
  EXPECT_EQ(add(trace, "", {"kernel_energy"}).tables.size(), 1U);
  const Report elsewhere = add(trace, "5", {});
  EXPECT_TRUE(elsewhere.tables.empty());
  ASSERT_EQ(elsewhere.diagnostics.problems().size(), 1U);
  EXPECT_NE(elsewhere.diagnostics.problems()[0].sentence.find("--power-gpus"), std::string::npos);
  LoadedTrace later = b.load();
  later.trace.sources[0].clock = {ClockDomain::kUnix, 3600 * 1000 * kMs};
  EXPECT_NE(add(later, "", {}).diagnostics.problems()[0].sentence.find("overlap in time"),
            std::string::npos);
  later.trace.sources[0].clock = {ClockDomain::kMonotonic, 0};
  later.trace.header.other.emplace_back("rocprof_clock", "\"CLOCK_MONOTONIC\"");
  EXPECT_NE(add(later, "", {}).diagnostics.problems()[0].sentence.find("start of the machine"),
            std::string::npos);
}

} // namespace
} // namespace rankscope
