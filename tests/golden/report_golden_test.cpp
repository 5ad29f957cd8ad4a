// Compares the sheets of `report --compat tracelens` with the tables of the reference tool for the
// same traces: every reference column, row by row in order.
#include "analyses/analysis.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/operators/unified_perf.h"
#include "engine/loader.h"
#include "golden/golden_cells.h"
#include "golden/golden_data.h"
#include "temp_folder.h"
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

/// The reference writes missing parameters as str(None) or str(nan). In its tables of real runs,
/// these cells are blank, because pandas reads both texts as missing values.
bool is_missing_parameter(std::string_view text, const std::string& column) {
  return (text == "None" && column == "param: stride_output") ||
         (text == "nan" && column == "param: output_mask");
}

bool same_cell(const Value& got, const std::string& want, const std::string& column) {
  if (!want.empty())
    return same(got, want);
  if (got.kind == CellKind::kText)
    return got.text.empty() || is_missing_parameter(got.text, column);
  return got.is_null() || std::isnan(got.number());
}

/// A table of the reference and rankscope's table, with columns by name.
class Pair {
public:
  Pair(const Table& table, const golden::Csv& want) : table_(table), want_(want) {
    for (const std::string& name : want.header) {
      const auto column = table.column(name);
      EXPECT_TRUE(column) << "no column '" << name << "'";
      columns_.push_back(column.value_or(0));
    }
  }

  [[nodiscard]] Value got(std::size_t row, std::size_t c) const {
    return table_.at(row, columns_[c]);
  }
  [[nodiscard]] bool same_at(std::size_t row, std::size_t want, std::size_t c) const {
    return same_cell(got(row, c), want_.rows[want][c], want_.header[c]);
  }

  /// Returns rankscope's row for each row of the reference: the row at the same position or, among
  /// rows with the same share of the sheet's time (which the reference sorts with an unstable
  /// sort), the equal row.
  [[nodiscard]] std::vector<std::size_t> rows() const {
    std::vector<std::size_t> out(want_.rows.size());
    std::vector<std::size_t> left;
    for (std::size_t r = 0; r < out.size(); ++r) {
      out[r] = r;
      if (!equal(r, r))
        left.push_back(r);
    }
    std::set<std::size_t> unused(left.begin(), left.end());
    for (const std::size_t r : left)
      for (const std::size_t row : unused)
        if (same_share(row, r) && equal(row, r)) {
          out[r] = row;
          unused.erase(row);
          break;
        }
    return out;
  }

  /// Whether the cells of a column depend on the order of rows.
  [[nodiscard]] bool by_place(std::size_t c) const {
    return want_.header[c].starts_with("Cumulative");
  }

private:
  [[nodiscard]] bool equal(std::size_t row, std::size_t want) const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (!by_place(c) && !same_at(row, want, c))
        return false;
    return true;
  }
  [[nodiscard]] bool same_share(std::size_t row, std::size_t want) const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (want_.header[c].starts_with("Percent"))
        return same_at(row, want, c) && same_at(want, want, c);
    return false;
  }

  const Table& table_;
  const golden::Csv& want_;
  std::vector<std::size_t> columns_;
};

/// Compares every column row by row in order; fails if a row or a reference column is missing, or
/// if there are additional rows.
void compare(const std::string& where, const Table& table, const golden::Csv& want,
             ReportGoldenTally& tally) {
  SCOPED_TRACE(where);
  ASSERT_EQ(table.rows(), want.rows.size());
  const Pair pair(table, want);
  const std::vector<std::size_t> rows = pair.rows();
  std::size_t different = 0;
  for (std::size_t c = 0; c < want.header.size(); ++c)
    for (std::size_t r = 0; r < want.rows.size(); ++r) {
      const std::size_t row = pair.by_place(c) ? r : rows[r];
      ++tally.cells;
      if (!pair.same_at(row, r, c) && different++ < 10)
        ADD_FAILURE() << where << " row " << r << " (" << want.rows[r][0].substr(0, 60)
                      << ") column '" << want.header[c] << "': got " << text_of(pair.got(row, c))
                      << ", want " << want.rows[r][c];
    }
  EXPECT_LE(different, 10U) << different << " cells differ";
  tally.rows += want.rows.size();
  ++tally.tables;
}

/// Whether a table has no rows: the reference then writes only the two lines of column names.
bool without_rows(const golden::Csv& table) {
  return table.rows.empty() || (table.rows.size() == 1 &&
                                table.rows[0] == std::vector<std::string>{"sum", "count", "mean"});
}

/// Compares the report of a trace with a folder of reference tables.
void compare_report(const fs::path& trace, const fs::path& folder, ReportOptions options,
                    ReportGoldenTally& tally) {
  options.compat_tracelens = true;
  options.include_unlinked_kernels = false;
  options.kernel_summary = fs::exists(folder / "kernel_summary.csv");
  options.short_kernels = fs::exists(folder / "short_kernels_summary.csv");
  LoadOptions load;
  load.rules = TreeRules::kReference;
  load.keep_python = options.detect_recompute;
  auto loaded = load_trace(trace.string(), load);
  ASSERT_TRUE(loaded) << loaded.error().message();
  auto report = build_report(*loaded, options);
  ASSERT_TRUE(report) << report.error().message();
  ++tally.traces;
  const std::string name =
      folder.parent_path().filename().string() + "/" + trace.filename().string() + "/";
  std::set<std::string> wanted;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string sheet = entry.path().stem().string();
    const golden::Csv want = golden::read_csv(entry.path());
    const Table* table = report->find(sheet);
    wanted.insert(sheet);
    if (without_rows(want)) {
      EXPECT_TRUE(table == nullptr || table->rows() == 0) << name << sheet;
    } else if (table == nullptr) {
      ADD_FAILURE() << name << sheet << " is missing";
    } else {
      compare(name + sheet, *table, want, tally);
    }
  }
  for (const Table& table : report->tables)
    EXPECT_TRUE(wanted.count(table.name()) == 1 || table.rows() == 0)
        << name << table.name() << ": the reference has no such sheet";
}

/// Compares every folder NAME_perf_report_csvs below `root` with the report of NAME.json.gz in the
/// same folder.
void compare_all(const fs::path& root, ReportGoldenTally& tally) {
  std::vector<fs::path> folders;
  for (const fs::path& path : golden::entries(root))
    if (fs::is_directory(path) && path.filename().string().ends_with("_perf_report_csvs"))
      folders.push_back(path);
  for (const fs::path& folder : folders) {
    std::string stem = folder.filename().string();
    stem.resize(stem.size() - 17);
    ReportOptions options;
    if (stem.size() > 10 && stem.substr(stem.size() - 10) == "_recompute") {
      stem.resize(stem.size() - 10);
      options.detect_recompute = true;
    }
    const fs::path trace = folder.parent_path() / (stem + ".json.gz");
    if (fs::exists(trace))
      compare_report(trace, folder, options, tally);
    else
      tally.skipped.insert(folder.filename().string() + ": no trace of that name beside it");
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

// A trace with integer microseconds, so that many rows have equal times; without strides, and with
// the file names of torch.
TEST(ReportGolden, RankZeroOfARunOfEightRanks) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const test::TempFolder folder;
  ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm" / "dlrm_kineto.tar.gz", folder.path()));
  ReportGoldenTally tally;
  compare_report(folder.path("worker0_step_12.1694128201545.pt.trace.json"),
                 golden::root() / "dlrm" / "worker0_perf_report_csvs", {}, tally);
  EXPECT_EQ(tally.tables, 10U);
}

/// Nanoseconds by category.
using ByCategory = std::map<std::string, double>;

/// Compares the kernel time by category of two tables: one has the category of the launcher, the
/// other that of the row.
void expect_same_categories(const fs::path& path) {
  SCOPED_TRACE(path.filename().string());
  auto loaded = load_trace(path.string(), {});
  if (!loaded)
    return; // files that must be rejected
  const ReportOptions options;
  ByCategory launched, rows;
  for (const OpsCategoryRow& row : loaded->shared(OpsCategoriesKey{options}))
    launched[std::string(row.category)] += row.direct_ns;
  const auto& unified = loaded->shared(UnifiedPerfKey{options});
  ASSERT_TRUE(unified) << unified.error().message();
  if (launched.empty())
    return; // no operators
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
