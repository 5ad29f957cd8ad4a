// Tests that the values of `top` equal those of the report: every cell that names a column of a
// sheet is compared with the sum over that sheet, for recorded traces and for those in the source
// tree.
#include "analyses/analysis.h"
#include "analyses/top/top_facts.h"
#include "engine/loader.h"
#include "golden/golden_data.h"
#include "model/kernels.h"
#include "temp_folder.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr double kMs = 1e-6; ///< one nanosecond: tolerance of times

struct Sum {
  double time = 0;
  std::int64_t count = 0;
};

const Table* sheet(const Report& report, const char* name) {
  const Table* const found = report.find(name);
  return found != nullptr && found->rows() > 0 ? found : nullptr;
}

std::string text(const Table& table, std::size_t row, const char* column) {
  return std::string(table.at(row, column).text);
}

/// Returns sums of a sheet by text columns.
std::map<std::string, Sum> sums(const Table& table, const std::vector<const char*>& keys,
                                const char* time, double in_ms, const char* count) {
  std::map<std::string, Sum> out;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    std::string key;
    for (const char* k : keys)
      key += text(table, r, k) + '\n';
    Sum& sum = out[key];
    sum.time += table.at(r, time).number() * in_ms;
    sum.count += static_cast<std::int64_t>(table.at(r, count).number());
  }
  return out;
}

/// Returns the time of the GPU work that no sheet by operator contains: work without a launch,
/// except communication. It is part of the base of shares.
double unlinked_ms(const LoadedTrace& t) {
  const std::vector<bool> communication = communication_names(t.trace.strings, false);
  const Events& e = t.trace.events;
  double ns = 0;
  for (EventId i = 0; i < e.size(); ++i)
    if (t.trace.gpu(i) && !t.tree.linked(i) && !communication[e.name[i]])
      ns += static_cast<double>(e.dur_ns[i]);
  return ns / 1e6;
}

void expect_sums(const Table& top, const std::map<std::string, Sum>& want,
                 const std::vector<const char*>& keys, const std::string& where,
                 double others_ms = 0) {
  double all = others_ms;
  for (const auto& [key, sum] : want)
    all += sum.time;
  EXPECT_EQ(top.rows(), want.size()) << where;
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < top.rows(); ++r) {
    std::string key;
    for (const char* k : keys)
      key += text(top, r, k) + '\n';
    const auto at = want.find(key);
    ASSERT_NE(at, want.end()) << where << key;
    const double ms = top.at(r, "time ms").number();
    EXPECT_NEAR(ms, at->second.time, kMs + 1e-9 * ms) << where << key;
    EXPECT_EQ(top.at(r, "count").i, at->second.count) << where << key;
    EXPECT_NEAR(top.at(r, "percent").number(), all > 0 ? ms / all * 100 : 0, 1e-6) << where << key;
    EXPECT_LE(ms, before) << where << "not in order";
    before = ms;
  }
}

void expect_rates(const Table& top, const Table& unified, const std::string& where) {
  struct Work {
    double gflop = 0;
    double us = 0;
  };
  std::map<std::string, Work> want;
  const std::vector<const char*> keys{"name", "op category", "Input Dims", "Input type"};
  const auto key_of = [&](const Table& t, std::size_t r) {
    std::string key;
    for (const char* k : keys)
      key += text(t, r, k) + '\n';
    return key;
  };
  for (std::size_t r = 0; r < unified.rows(); ++r)
    if (const double gflop = unified.at(r, "GFLOPS").number(); !std::isnan(gflop)) {
      Work& sum = want[key_of(unified, r)];
      sum.gflop += gflop * unified.at(r, "operation_count").number();
      sum.us += unified.at(r, "Kernel Time (\u00b5s)_sum").number();
    }
  for (std::size_t r = 0; r < top.rows(); ++r) {
    const auto at = want.find(key_of(top, r));
    const double got = top.at(r, "TFLOPS/s").number();
    if (at == want.end())
      EXPECT_TRUE(std::isnan(got)) << where << r;
    else
      EXPECT_NEAR(got, at->second.gflop / at->second.us * 1e3, 1e-6 * (1 + got)) << where << r;
  }
}

/// Returns the idle time, before the launch that ends the gap, in which a blocking call of the
/// launching thread runs. Compares each gap with each call (ST no. 1).
std::int64_t synchronised_ns(const LoadedTrace& t, bool unlinked) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  std::vector<EventId> calls;
  for (EventId i = 0; i < e.size(); ++i)
    if (const std::string_view name = trace.name(i);
        is_runtime(e.category[i]) && (name.find("Synchronize") != std::string_view::npos ||
                                      (name.find("Memcpy") != std::string_view::npos &&
                                       name.find("Async") == std::string_view::npos)))
      calls.push_back(i);
  std::vector<EventId> work;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]) && (unlinked || t.tree.linked(i)))
      work.push_back(i);
  for (std::vector<EventId>* events : {&calls, &work})
    std::stable_sort(events->begin(), events->end(),
                     [&](EventId a, EventId b) { return e.ts_ns[a] < e.ts_ns[b]; });
  std::int64_t sum = 0;
  std::int64_t busy_until = work.empty() ? 0 : e.ts_ns[work.front()];
  for (const EventId next : work) {
    const EventId launch = t.tree.parent(next);
    const std::int64_t until =
        t.tree.linked(next) ? std::min(e.ts_ns[next], e.ts_ns[launch]) : busy_until;
    std::int64_t covered_until = busy_until;
    if (until > busy_until)
      for (const EventId call : calls)
        if (e.track[call] == e.track[launch]) {
          const std::int64_t from = std::max(covered_until, e.ts_ns[call]);
          const std::int64_t to = std::min(until, trace.end_ns(call));
          sum += std::max<std::int64_t>(0, to - from);
          covered_until = std::max(covered_until, to);
        }
    busy_until = std::max(busy_until, trace.end_ns(next));
  }
  return sum;
}

void expect_synchronisation(const LoadedTrace& t, const std::string& where) {
  for (const bool unlinked : {false, true}) {
    ReportOptions options;
    options.include_unlinked_kernels = unlinked;
    const auto charged = static_cast<double>(
        t.shared(IdleKey{options}).ns[static_cast<std::size_t>(IdleCause::kSynchronisation)]);
    const auto blocked = static_cast<double>(synchronised_ns(t, unlinked));
    EXPECT_NEAR(charged, blocked, 0.01 * blocked)
        << where << "synchronisation" << (unlinked ? ", with work without a launch" : "");
  }
}

void expect_same(const std::string& path) {
  auto loaded = load_trace(path, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto report = build_report(*loaded, {});
  ASSERT_TRUE(report) << report.error().message();
  auto rank = top_rank_of(*loaded, {});
  ASSERT_TRUE(rank) << rank.error().message();
  TopParts parts;
  parts.put(std::move(*rank), make_record(*loaded, {}), extract_collectives(*loaded),
            identity_of(loaded->trace, 0));
  const auto collectives = collective_facts(parts.collectives, {});
  TopInput input;
  input.top_k = 0;
  const TopFacts facts = top_facts(parts, collectives ? &*collectives : nullptr, {}, input);
  const Report top = top_report(facts);
  const std::string where = path + ": ";
  const Table& timeline = *report->find("gpu_timeline");
  const Table& times = *top.find("top_timeline");
  double idle_ms = 0;
  for (std::size_t r = 0; r < timeline.rows(); ++r)
    for (std::size_t t = 0; t < times.rows(); ++t)
      if (text(times, t, "type") == text(timeline, r, "type")) {
        EXPECT_NEAR(times.at(t, "time ms").number(), timeline.at(r, "time ms").number(), kMs)
            << where << text(timeline, r, "type");
        EXPECT_NEAR(times.at(t, "percent").number(), timeline.at(r, "percent").number(), 1e-9);
        if (text(timeline, r, "type") == "idle_time")
          idle_ms = timeline.at(r, "time ms").number();
      }
  EXPECT_EQ(times.rows(), timeline.rows()) << where;
  double by_cause = 0;
  for (const TopIdle& i : facts.idle)
    by_cause += i.ms;
  EXPECT_NEAR(by_cause, idle_ms, kMs) << where;
  if (const Table* kernels = sheet(*report, "kernel_summary"))
    expect_sums(*top.find("top_kernels"),
                sums(*kernels, {"Kernel name"}, "Kernel duration (\u00b5s)_sum", 1e-3,
                     "Kernel duration (\u00b5s)_count"),
                {"kernel"}, where);
  const Table& kernels = *top.find("top_kernels");
  std::set<std::string> short_names;
  for (std::size_t r = 0; r < kernels.rows(); ++r)
    EXPECT_TRUE(short_names.insert(text(kernels, r, "short name")).second)
        << where << text(kernels, r, "kernel");
  if (const Table* ops = sheet(*report, "ops_summary_by_category"))
    expect_sums(*top.find("top_categories"),
                sums(*ops, {"op category"}, "total_direct_kernel_time_ms", 1, "Count"),
                {"op category"}, where, unlinked_ms(*loaded));
  const Table* unified = sheet(*report, "unified_perf_summary");
  if (unified == nullptr || facts.operators.empty())
    return;
  const std::vector<const char*> keys{"name", "op category", "Input Dims", "Input type"};
  expect_sums(*top.find("top_operators"),
              sums(*unified, keys, "Kernel Time (\u00b5s)_sum", 1e-3, "operation_count"), keys,
              where, unlinked_ms(*loaded));
  expect_rates(*top.find("top_operators"), *unified, where);
}

/// Compares the Kineto traces below a root; returns their number.
std::size_t expect_below(const std::filesystem::path& root) {
  std::size_t traces = 0;
  for (const auto& path : golden::entries(root))
    if (path.string().ends_with(".json.gz") &&
        path.string().find("/rocprof/") == std::string::npos) {
      expect_same(path.string());
      ++traces;
    }
  return traces;
}

TEST(Top, HasTheFiguresOfTheReportInTheTree) {
  EXPECT_GT(expect_below(golden::tree_root()), 0U);
}

TEST(Top, HasTheFiguresOfTheReportOnRealRuns) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  for (const char* folder : {"mi300", "h100", "mi210", "inference"})
    EXPECT_GT(expect_below(golden::root() / folder), 0U) << folder;
}

TEST(Top, ChargesToSynchronisationWhatBlockingCallsCover) {
  const test::TempFolder run;
  std::vector<std::filesystem::path> folders = {golden::tree_root()};
  if (!golden::root().empty()) {
    ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm" / "dlrm_kineto.tar.gz", run.path()));
    folders.insert(folders.end(), {golden::root(), run.path()});
  }
  std::size_t traces = 0;
  for (const std::filesystem::path& folder : folders)
    for (const auto& path : golden::entries(folder))
      if (path.string().find(".json") != std::string::npos &&
          std::filesystem::is_regular_file(path))
        if (const Result<LoadedTrace> loaded = load_trace(path.string(), {}); loaded) {
          expect_synchronisation(*loaded, path.string());
          ++traces;
        }
  std::printf("%zu traces\n", traces);
  EXPECT_GE(traces, golden::root().empty() ? 4U : 40U);
}

} // namespace
} // namespace rankscope
