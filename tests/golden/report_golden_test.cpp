// The sheets of `report --compat tracelens` against the tables that the reference tool wrote for
// the same traces: every reference column, row by row in order.
#include "analyses/analysis.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/operators/unified_perf.h"
#include "engine/loader.h"
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

/// "np.float64(39.75)" -> "39.75".
std::string strip_numpy(std::string text) {
  for (const std::string prefix : {"np.float64(", "np.float32(", "np.int64("})
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      const std::size_t close = text.find(')', at);
      text.erase(close, 1);
      text.erase(at, prefix.size());
    }
  return text;
}

bool number_of(const std::string& text, double& value) {
  if (text.empty())
    return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0';
}

/// The tolerance of the reference's own comparer, whatever the size of the number.
bool close(double got, double want) {
  return std::fabs(got - want) < 1e-6;
}

/// Texts are equal when their numbers are close and all else is equal: lists of kernels hold both.
bool texts_equal(const std::string& got, const std::string& want) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto numeric = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  while (i < got.size() && j < want.size()) {
    if (got[i] >= '0' && got[i] <= '9' && want[j] >= '0' && want[j] <= '9') {
      std::size_t a = i;
      std::size_t b = j;
      while (a < got.size() && (numeric(got[a]) || got[a] == 'e'))
        ++a;
      while (b < want.size() && (numeric(want[b]) || want[b] == 'e'))
        ++b;
      const std::string x = got.substr(i, a - i);
      const std::string y = want.substr(j, b - j);
      double p = 0;
      double q = 0;
      if (x != y &&
          !(number_of(x, p) && number_of(y, q) && y.find('.') != std::string::npos && close(p, q)))
        return false;
      i = a;
      j = b;
    } else if (got[i++] != want[j++]) {
      return false;
    }
  }
  return i == got.size() && j == want.size();
}

/// Items of a list of dicts, sorted: the reference's own test ignores their order.
std::string sorted_items(const std::string& text) {
  if (text.size() < 2 || text.substr(0, 2) != "[{")
    return text;
  std::vector<std::string> items;
  std::size_t start = 1;
  for (std::size_t at = text.find("}, {"); at != std::string::npos; at = text.find("}, {", start)) {
    items.push_back(text.substr(start, at + 1 - start));
    start = at + 3;
  }
  items.push_back(text.substr(start, text.size() - 1 - start));
  std::sort(items.begin(), items.end());
  std::string out;
  for (const std::string& item : items)
    out += item + ";";
  return out;
}

struct Tally {
  std::size_t traces = 0, tables = 0, rows = 0, cells = 0;
  std::set<std::string> skipped;
};

/// The text of a cell as the reference writes it.
std::string text_of(const Value& v) {
  if (v.kind == CellKind::kText)
    return std::string(v.text);
  if (v.kind == CellKind::kBool)
    return v.i != 0 ? "True" : "False";
  return v.kind == CellKind::kInt ? std::to_string(v.i) : shortest_double(v.number());
}

bool same(const Value& got, const std::string& want) {
  double number = 0;
  if (number_of(want, number)) {
    double own = got.number();
    if (got.kind == CellKind::kText && !number_of(std::string(got.text), own))
      return false;
    return close(own, number);
  }
  const std::string text = strip_numpy(want);
  return texts_equal(text_of(got), text) ||
         texts_equal(sorted_items(text_of(got)), sorted_items(text));
}

/// As the reference's own comparer: row by row in order, every column, blank reference cells
/// skipped; other than there, a row or column too many or too few is noticed.
void compare(const std::string& where, const Table& table, const golden::Csv& want, Tally& tally) {
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
void compare_all(const fs::path& root, Tally& tally) {
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
  Tally tally;
  compare_all(golden::tree_root(), tally);
  EXPECT_EQ(tally.traces, 2U);
  EXPECT_GE(tally.tables, 28U);
}

TEST(ReportGolden, TheReferenceTablesOfRealRuns) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  Tally tally;
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
