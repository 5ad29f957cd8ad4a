// Compares reports of inference traces with the tables of the reference's inference report: every
// sheet and column; rows are matched by key, and neither side may have other rows.
#include "analyses/operators/pseudo_ops.h"
#include "analyses/operators/report_notes.h"
#include "analyses/operators/unified_perf.h"
#include "engine/capture_folder.h"
#include "golden/golden_cells.h"
#include "golden/golden_data.h"

#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using golden::same;
using golden::text_of;

ReportOptions reference_options() {
  ReportOptions options;
  options.compat_tracelens = true;
  options.include_unlinked_kernels = false;
  options.compat_inference = true;
  options.enable_pseudo_ops = true;
  options.group_by_parent_module = true;
  options.group_by_num_kernels = true;
  options.include_call_stack = true;
  options.kernel_summary = false;
  options.short_kernels = false;
  options.coll_analysis = false;
  return options;
}

LoadedTrace load(const fs::path& path, bool python) {
  LoadOptions options;
  options.keep_python = python;
  options.rules = TreeRules::kReference;
  auto loaded = load_trace(path.string(), options);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return std::move(*loaded);
}

/// Whether the column is part of the key of a row.
bool is_key(const std::string& sheet, const std::string& column) {
  static const std::set<std::string> kKeys = {
      "type",        "name",       "op category",   "parent_module",
      "Input Dims",  "Input type", "Input Strides", "Concrete Inputs",
      "num_kernels", "UID_first",  "ex_UID"};
  return kKeys.count(column) > 0 || column.starts_with("param: ") ||
         (sheet == "gpu_timeline" && column == "type");
}

std::string key_text(const std::string& text) {
  double number = 0;
  if (!golden::number_of(text, number))
    return text == "None" ? "" : text;
  return shortest_double(number);
}

/// Returns rows by key; -1 for keys that occur twice.
template <class Cell>
std::map<std::string, std::ptrdiff_t> rows_by_key(const std::string& sheet,
                                                  const std::vector<std::string>& header,
                                                  std::size_t rows, Cell&& cell) {
  std::map<std::string, std::ptrdiff_t> out;
  for (std::size_t r = 0; r < rows; ++r) {
    std::string key;
    for (std::size_t c = 0; c < header.size(); ++c)
      if (is_key(sheet, header[c]))
        key += key_text(cell(r, c)) + "|";
    const auto [at, fresh] = out.emplace(key, static_cast<std::ptrdiff_t>(r));
    if (!fresh)
      at->second = -1;
  }
  return out;
}

struct Tally {
  std::size_t tables = 0, cells = 0;
};

void compare_sheet(const std::string& sheet, const Table& got, const golden::Csv& want,
                   Tally& tally) {
  SCOPED_TRACE(sheet);
  std::vector<std::string> header;
  for (const auto& column : got.columns())
    header.push_back(column.name);
  EXPECT_EQ(header, want.header);
  std::vector<std::size_t> column_of;
  for (const std::string& name : want.header) {
    const auto column = got.column(name);
    ASSERT_TRUE(column) << name;
    column_of.push_back(*column);
  }
  const auto ours = rows_by_key(sheet, want.header, got.rows(), [&](std::size_t r, std::size_t c) {
    const Value v = got.at(r, column_of[c]);
    return v.is_null() ? std::string() : text_of(v);
  });
  const auto theirs = rows_by_key(sheet, want.header, want.rows.size(),
                                  [&](std::size_t r, std::size_t c) { return want.rows[r][c]; });
  EXPECT_EQ(got.rows(), want.rows.size());
  for (const auto& [key, row] : ours)
    EXPECT_EQ(theirs.count(key), 1U) << "a row too many: " << key.substr(0, 300);
  std::size_t different = 0;
  for (const auto& [key, row] : theirs) {
    const auto at = ours.find(key);
    if (at == ours.end() || at->second < 0 || row < 0) {
      ADD_FAILURE() << "no such row, or several: " << key.substr(0, 300);
      continue;
    }
    for (std::size_t c = 0; c < want.header.size(); ++c) {
      const std::string& ref = want.rows[static_cast<std::size_t>(row)][c];
      const Value v = got.at(static_cast<std::size_t>(at->second), column_of[c]);
      ++tally.cells;
      const bool blank = ref.empty() || ref == "None";
      const bool none = v.is_null() || text_of(v) == "None" || text_of(v).empty();
      if (blank ? none : !none && same(v, ref))
        continue;
      if (different++ < 10)
        ADD_FAILURE() << key.substr(0, 120) << " '" << want.header[c] << "': got "
                      << (v.is_null() ? "nothing" : text_of(v)) << ", want " << ref;
    }
  }
  EXPECT_EQ(different, 0U);
  ++tally.tables;
}

void compare_tables(const Report& report, const fs::path& tables, std::size_t sheets) {
  Tally tally;
  std::set<std::string> wanted;
  for (const fs::path& file : golden::entries(tables)) {
    const std::string sheet = file.stem().string();
    wanted.insert(sheet);
    const Table* const table = report.find(sheet);
    ASSERT_NE(table, nullptr) << sheet;
    compare_sheet(sheet, *table, golden::read_csv(file), tally);
  }
  for (const Table& table : report.tables)
    EXPECT_EQ(wanted.count(table.name()), 1U) << "a sheet too many: " << table.name();
  EXPECT_EQ(tally.tables, sheets);
  std::cout << tally.tables << " tables, " << tally.cells << " cells compared\n";
}

fs::path inference() {
  return golden::root().empty() ? fs::path() : golden::root() / "inference";
}

constexpr const char* kVllm = "vllm_decode_full";

TEST(InferenceGolden, DecodeStepWithItsCapture) {
  if (inference().empty())
    GTEST_SKIP() << golden::kAbsent;
  const ReportOptions options = reference_options();
  LoadedTrace trace = load(inference() / kVllm / "graph_execution.json.gz", true);
  const auto merged = merge_capture_folder(trace, (inference() / kVllm / "capture_traces").string(),
                                           {true, true, 1, nullptr});
  ASSERT_TRUE(merged) << merged.error().message();
  ASSERT_EQ(trace.graph_launches.size(), 1U);
  EXPECT_EQ(trace.graph_launches[0].match, GraphMatch::kPosition);
  EXPECT_EQ(trace.graph_launches[0].attributed, 421U);
  const auto report = build_report(trace, options);
  ASSERT_TRUE(report) << report.error().message();
  compare_tables(*report, inference() / kVllm / "perf_csvs", 10);
}

ModelCoverage coverage(const LoadedTrace& trace) {
  ReportOptions options;
  options.enable_pseudo_ops = true;
  auto out = model_coverage(trace, options);
  EXPECT_TRUE(out);
  return out ? *out : ModelCoverage{};
}

// The merge changes the operators of kernels, but not their durations: with and without captures,
// the timeline equals that of the reference. Without the captures, the operators in the graph are
// unknown.
TEST(InferenceGolden, DecodeStepWithoutItsCapture) {
  if (inference().empty())
    GTEST_SKIP() << golden::kAbsent;
  const fs::path path = inference() / kVllm / "graph_execution.json.gz";
  LoadedTrace trace = load(path, false);
  const auto report = build_report(trace, reference_options());
  ASSERT_TRUE(report) << report.error().message();
  Tally tally;
  compare_sheet("gpu_timeline", *report->find("gpu_timeline"),
                golden::read_csv(inference() / kVllm / "perf_csvs" / "gpu_timeline.csv"), tally);
  EXPECT_TRUE(trace.graph_launches.empty());
  const ModelCoverage without = coverage(trace);
  EXPECT_NEAR(without.modelled_ns / without.total_ns, 0.03, 0.005);
  EXPECT_NEAR(without.graph_ns / without.total_ns, 0.97, 0.005);
  // with the captures: the same kernel time, all of it below operators
  const auto merged = merge_capture_folder(trace, (inference() / kVllm / "capture_traces").string(),
                                           {false, false, 1, nullptr});
  ASSERT_TRUE(merged) << merged.error().message();
  const LoadedTrace with_ops = with_pseudo_ops(trace, false);
  const ModelCoverage with = coverage(with_ops);
  EXPECT_EQ(with.total_ns, without.total_ns);
  EXPECT_EQ(with.graph_ns, 0);
  EXPECT_LT(with.no_operator_ns / with.total_ns, 0.001);
  EXPECT_GT(with.modelled_ns / with.total_ns, 0.87);
}

TEST(InferenceGolden, EagerPrefillStep) {
  if (inference().empty())
    GTEST_SKIP() << golden::kAbsent;
  const fs::path folder = inference() / "sglang_prefilldecode";
  const LoadedTrace trace = load(folder / "sglang_Qwen3-8B_prefilldecode.json.gz", true);
  const auto report = build_report(trace, reference_options());
  ASSERT_TRUE(report) << report.error().message();
  compare_tables(*report, folder / "perf_csvs", 11);
}

} // namespace
} // namespace rankscope
