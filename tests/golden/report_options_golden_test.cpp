// Tests that a report depends only on its options, not on earlier requests for the same trace.
#include "analyses/analysis.h"
#include "engine/loader.h"
#include "golden_data.h"

#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns each option that changes a report, by name.
using Change = void (*)(ReportOptions&);
const std::vector<std::pair<std::string, Change>>& changes() {
  static const std::vector<std::pair<std::string, Change>> kAll = {
      {"plain", [](ReportOptions&) {}},
      {"linked", [](ReportOptions& o) { o.include_unlinked_kernels = false; }},
      {"memset", [](ReportOptions& o) { o.memset_as_memory = true; }},
      {"micro idle", [](ReportOptions& o) { o.micro_idle_us = 3; }},
      {"short kernels", [](ReportOptions& o) { o.short_kernel_threshold_us = 4; }},
      {"bins", [](ReportOptions& o) { o.short_kernel_bins = 7; }},
      {"number of kernels", [](ReportOptions& o) { o.group_by_num_kernels = true; }},
      {"recompute", [](ReportOptions& o) { o.detect_recompute = true; }},
      {"overlap", [](ReportOptions& o) { o.include_overlap_info = true; }},
      {"first occurrence", [](ReportOptions& o) { o.include_first_occurrence_time = true; }},
      {"call stack", [](ReportOptions& o) { o.include_call_stack = true; }},
      {"modules", [](ReportOptions& o) { o.group_by_parent_module = o.module_path = true; }},
      {"compat", [](ReportOptions& o) { o.compat_tracelens = true; }},
      {"inference", [](ReportOptions& o) { o.compat_tracelens = o.compat_inference = true; }},
      {"legacy layout", [](ReportOptions& o) { o.legacy_gemm_layout = true; }},
      {"board", [](ReportOptions& o) { o.gpu_arch = "MI300X"; }},
      {"per step", [](ReportOptions& o) { o.per_step = true; }},
  };
  return kAll;
}

/// Returns every pair of options, and each option alone.
std::map<std::string, ReportOptions> pairs_of_options() {
  std::map<std::string, ReportOptions> out;
  for (const auto& [name, change] : changes())
    for (const auto& [other, also] : changes()) {
      ReportOptions options;
      change(options);
      also(options);
      out.emplace(std::min(name, other) + " and " + std::max(name, other), options);
    }
  return out;
}

/// Returns all cells of all sheets, one per line.
std::string text_of(const LoadedTrace& trace, const ReportOptions& options) {
  const Result<Report> report = build_report(trace, options);
  if (!report)
    return report.error().message();
  std::string out;
  for (const Table& table : report->tables) {
    out += "# " + table.name() + "\n";
    for (std::size_t c = 0; c < table.columns().size(); ++c)
      for (std::size_t r = 0; r < table.rows(); ++r) {
        const Value cell = table.at(r, c);
        out += table.columns()[c].name + " " + std::to_string(static_cast<int>(cell.kind)) + " " +
               std::to_string(cell.i) + " " + std::to_string(cell.d) + " " +
               std::string(cell.text) + "\n";
      }
  }
  return out;
}

void expect_no_mixing(const fs::path& path, std::size_t& traces) {
  SCOPED_TRACE(path.string());
  LoadOptions load;
  load.keep_python = true;
  const auto shared = load_trace(path.string(), load);
  const auto backwards = load_trace(path.string(), load);
  if (!shared || !backwards)
    return; // files that must be rejected
  ++traces;
  const std::map<std::string, ReportOptions> all = pairs_of_options();
  std::map<std::string, std::string> fresh;
  for (const auto& [name, options] : all) {
    const auto alone = load_trace(path.string(), load);
    ASSERT_TRUE(alone);
    fresh[name] = text_of(*alone, options);
    EXPECT_TRUE(text_of(*shared, options) == fresh[name]) << name;
  }
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    EXPECT_TRUE(text_of(*backwards, at->second) == fresh[at->first]) << at->first << ", backwards";
}

TEST(ReportOptionsGolden, OfOneObjectDoNotMix) {
  std::size_t traces = 0;
  expect_no_mixing(golden::tree_root() / "synth" / "amd" / "rank0.json.gz", traces);
  EXPECT_EQ(traces, 1U);
}

TEST(ReportOptionsGolden, OfOneObjectDoNotMixOnRealTraces) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  std::size_t traces = 0;
  for (const fs::path& path : golden::entries(golden::root()))
    if (fs::is_regular_file(path) && path.string().find(".json") != std::string::npos)
      expect_no_mixing(path, traces);
  EXPECT_GT(traces, 25U);
}

} // namespace
} // namespace rankscope
