// The sheets of `report --compat tracelens` against the tables that the reference tool wrote for
// the same traces: every reference column, row by row in order.
#include "analyses/analysis.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/operators/unified_perf.h"
#include "engine/loader.h"
#include "golden/golden_cells.h"
#include "golden/golden_data.h"
#include "writers/writer.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using golden::same;
using golden::text_of;

struct ReportGoldenTally {
  std::size_t traces = 0, tables = 0, rows = 0, cells = 0;
  std::set<std::string> skipped;
};

/// As the reference's own comparer: row by row in order, every column, blank reference cells
/// skipped; other than there, a row or column too many or too few is noticed.
void compare(const std::string& where, const Table& table, const golden::Csv& want,
             ReportGoldenTally& tally) {
  ASSERT_EQ(table.rows(), want.rows.size()) << where;
  std::size_t different = 0;
  for (std::size_t c = 0; c < want.header.size(); ++c) {
    const auto column = table.column(want.header[c]);
    ASSERT_TRUE(column) << where << ": no column '" << want.header[c] << "'";
    for (std::size_t r = 0; r < want.rows.size(); ++r) {
      const std::string& ref = want.rows[r][c];
      const Value got = table.at(r, *column);
      ++tally.cells;
      if (ref.empty() || (ref == "None" && got.is_null()) || same(got, ref))
        continue;
      if (different++ < 10)
        ADD_FAILURE() << where << " row " << r << " (" << want.rows[r][0].substr(0, 60)
                      << ") column '" << want.header[c] << "': got " << text_of(got) << ", want "
                      << ref;
    }
  }
  EXPECT_LE(different, 10U) << where << ": " << different << " cells differ";
  tally.rows += want.rows.size();
  ++tally.tables;
}

/// Every folder NAME_perf_report_csvs below `root` against the report of NAME.json.gz beside it.
void compare_all(const fs::path& root, ReportGoldenTally& tally) {
  const std::set<std::string> known = {
#define RS_SHEET(name) name,
      RS_SHEET("gpu_timeline") RS_SHEET("ops_summary") RS_SHEET("ops_summary_by_category")
          RS_SHEET("ops_unique_args") RS_SHEET("kernel_summary") RS_SHEET("short_kernel_histogram")
              RS_SHEET("short_kernels_summary") RS_SHEET("coll_analysis") RS_SHEET("GEMM")
                  RS_SHEET("SDPA_fwd") RS_SHEET("CONV_fwd") RS_SHEET("CONV_bwd")
                      RS_SHEET("UnaryElementwise") RS_SHEET("BinaryElementwise")
                          RS_SHEET("Reduce_fwd") RS_SHEET("Reduce_bwd") RS_SHEET("Normalization")
                              RS_SHEET("unified_perf_summary")
#undef RS_SHEET
  };
  std::vector<fs::path> folders;
  for (const fs::path& path : golden::entries(root))
    if (fs::is_directory(path) && path.filename().string().ends_with("_perf_report_csvs"))
      folders.push_back(path);
  for (const fs::path& folder : folders) {
    std::string stem = folder.filename().string();
    stem.resize(stem.size() - 17);
    ReportOptions options;
    options.compat_tracelens = true;
    LoadOptions load;
    if (stem.size() > 10 && stem.substr(stem.size() - 10) == "_recompute") {
      stem.resize(stem.size() - 10);
      options.detect_recompute = true;
      load.keep_python = true;
    }
    fs::path trace = folder.parent_path() / (stem + ".json.gz");
    if (!fs::exists(trace)) {
      tally.skipped.insert(folder.filename().string() + ": its trace is not public");
      continue;
    }
    auto loaded = load_trace(trace.string(), load);
    ASSERT_TRUE(loaded) << loaded.error().message();
    auto report = build_report(*loaded, options);
    ASSERT_TRUE(report) << report.error().message();
    ++tally.traces;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string sheet = entry.path().stem().string();
      const golden::Csv want = golden::read_csv(entry.path());
      const Table* table = report->find(sheet);
      if (table == nullptr) {
        if (known.count(sheet) > 0 && !want.rows.empty())
          ADD_FAILURE() << folder.filename() << ": sheet " << sheet << " is missing";
        else
          tally.skipped.insert(sheet + ": not made by this version");
        continue;
      }
      compare(folder.parent_path().filename().string() + "/" + stem + "/" + sheet, *table, want,
              tally);
    }
  }
  for (const std::string& text : tally.skipped)
    std::cout << "not compared: " << text << "\n";
  std::cout << "compared " << tally.traces << " traces, " << tally.tables << " tables, "
            << tally.rows << " rows, " << tally.cells << " cells\n";
}

TEST(ReportGolden, TheReferenceTablesInTheTree) {
  ReportGoldenTally tally;
  compare_all(golden::tree_root(), tally);
  EXPECT_EQ(tally.traces, 2U);
  EXPECT_GE(tally.tables, 28U);
}

TEST(ReportGolden, TheReferenceTablesOfRealRuns) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  ReportGoldenTally tally;
  compare_all(golden::root(), tally);
  EXPECT_GT(tally.tables, 40U);
}

/// Nanoseconds by category.
using ByCategory = std::map<std::string, double>;

/// The kernels of both tables, and of one the category by the launcher, of the other by the row.
void expect_same_categories(const fs::path& path) {
  SCOPED_TRACE(path.filename().string());
  auto loaded = load_trace(path.string(), {});
  if (!loaded)
    return; // files that are there to be refused
  const ReportOptions options;
  ByCategory launched, rows;
  for (const OpsCategoryRow& row : ops_categories_of(*loaded, options))
    launched[std::string(row.category)] += row.direct_ns;
  const auto& unified = unified_perf_of(*loaded, options);
  ASSERT_TRUE(unified) << unified.error().message();
  if (launched.empty())
    return; // without operators
  for (const UnifiedRow& row : unified->rows)
    rows[std::string(row.op.category)] += row.kernel_ns;
  for (const auto& [category, ns] : launched)
    rows.try_emplace(category, 0);
  for (const auto& [category, ns] : rows)
    EXPECT_NEAR(launched[category], ns, 0.005 * std::max(ns, launched[category])) << category;
}

void expect_same_categories_below(const fs::path& root) {
  std::size_t traces = 0;
  for (const fs::path& path : golden::entries(root))
    if (path.string().ends_with(".json.gz")) {
      expect_same_categories(path);
      ++traces;
    }
  EXPECT_GT(traces, 1U);
}

TEST(ReportCategories, OfLaunchersAreThoseOfTheRowsInTheTree) {
  expect_same_categories_below(golden::tree_root());
}

TEST(ReportCategories, OfLaunchersAreThoseOfTheRowsInRealRuns) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  expect_same_categories_below(golden::root());
}

} // namespace
} // namespace rankscope
