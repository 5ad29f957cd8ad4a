// The sheets of `report --compat tracelens` against the tables that the reference tool wrote for
// the same traces: every reference column, row by row in order.
#include "analyses/analysis.h"
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

/// The reference computed in doubles of microseconds since 1970 or boot: 1e-6 relative or 1 ns per
/// interval. `slack` is that nanosecond budget in the column's unit.
bool close(double got, double want, double slack) {
  return std::fabs(got - want) <= std::max(1e-6 * std::fabs(want), slack);
}

/// Texts are equal when their numbers are close and all else is equal: lists of kernels hold both.
bool texts_equal(const std::string& got, const std::string& want, double slack) {
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
      if (x != y && !(number_of(x, p) && number_of(y, q) && y.find('.') != std::string::npos &&
                      close(p, q, slack)))
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
  std::size_t traces = 0, tables = 0, rows = 0, cells = 0, ties = 0;
  std::set<std::string> skipped;
};

/// Column that orders a sheet; SIZE_MAX = the order is not by one column.
std::size_t sort_column(const golden::Csv& want) {
  for (const char* name : {"Kernel Time (\u00b5s)_sum", "total_direct_kernel_time_sum",
                           "Kernel duration (\u00b5s)_sum", "total_direct_kernel_time_ms",
                           "Short Kernel duration (\u00b5s) sum"})
    for (std::size_t c = 0; c < want.header.size(); ++c)
      if (want.header[c] == name)
        return c;
  return SIZE_MAX;
}

/// Largest error of a rate when each call's kernel time is 2 ns off: rate * 2 ns / time, both the
/// worst of the row. 0.2 % where the sheet lacks those columns.
double rate_slack(const golden::Csv& want, const std::vector<std::string>& row, std::size_t c) {
  const std::string prefix = want.header[c].substr(0, want.header[c].find("/s") + 2);
  double most = 0;
  double shortest_us = 0;
  for (std::size_t i = 0; i < want.header.size(); ++i) {
    if (want.header[i] == prefix + "_max")
      number_of(row[i], most);
    if (want.header[i] == "Kernel Time (\u00b5s)_min")
      number_of(row[i], shortest_us);
  }
  double own = 0;
  number_of(row[c], own);
  if (most <= 0 || shortest_us <= 0)
    return 2e-3 * std::fabs(own);
  const bool spread = want.header[c].find("_std") != std::string::npos;
  return most * 2e-3 / shortest_us * (spread ? 2 : 1);
}

/// Nanoseconds of slack in the unit of a column, for values that add up `count` intervals.
double slack_of(const std::string& column, double count) {
  const double ns = 1.0 * std::max(1.0, count);
  if (column.find("ms") != std::string::npos && column.find("params") == std::string::npos)
    return ns * 1e-6;
  return ns * 1e-3;
}

void compare(const std::string& where, const Table& table, const golden::Csv& want, Tally& tally) {
  std::vector<std::size_t> columns;
  std::size_t missing = 0;
  for (const std::string& name : want.header) {
    const auto c = table.column(name);
    if (!c) {
      ADD_FAILURE() << where << ": no column '" << name << "'";
      ++missing;
    }
    columns.push_back(c.value_or(SIZE_MAX));
  }
  if (missing > 0)
    return;
  EXPECT_EQ(table.rows(), want.rows.size()) << where;
  std::size_t count_col = SIZE_MAX;
  for (std::size_t c = 0; c < want.header.size(); ++c)
    for (const char* name : {"Count", "operation_count", "name_count", "count"})
      if (want.header[c] == name)
        count_col = c;
  std::size_t position = 0;
  const auto cell_ok = [&](std::size_t row, const std::vector<std::string>& ref, std::size_t c) {
    if (want.header[c].find("Cumulative") == 0)
      row = position; // a running share belongs to the place, also among equals
    if (ref[c].empty())
      return true; // blank reference cells say nothing
    const Value v = table.at(row, columns[c]);
    if (ref[c] == "None" && v.is_null())
      return true; // some releases of the reference spell a missing value so
    double want_number = 0;
    double count = 2;
    if (count_col != SIZE_MAX)
      number_of(ref[count_col], count);
    if (table.name() == "gpu_timeline")
      count = 60; // sums over hundreds to thousands of intervals, 1 ns each at worst
    double slack = slack_of(want.header[c], count);
    if (number_of(ref[c], want_number)) {
      if (want.header[c].find("ercent") != std::string::npos) // of shares with errors of both parts
        slack = 1e-3;
      if (want.header[c].find("/s") != std::string::npos) // rates: relative error of a short time
        slack = rate_slack(want, ref, c);
      double got = v.number();
      if (v.kind == CellKind::kText && !number_of(std::string(v.text), got))
        return false;
      return !std::isnan(got) && close(got, want_number, slack);
    }
    std::string got;
    if (v.kind == CellKind::kText)
      got = v.text;
    else if (v.kind == CellKind::kBool)
      got = v.i != 0 ? "True" : "False";
    else if (v.kind == CellKind::kInt)
      got = std::to_string(v.i);
    const std::string ref_text = strip_numpy(ref[c]);
    return texts_equal(got, ref_text, 0.011) ||
           texts_equal(sorted_items(got), sorted_items(ref_text), 0.011);
  };
  std::size_t reported = 0;
  std::vector<bool> used(table.rows());
  for (std::size_t r = 0; r < std::min(table.rows(), want.rows.size()); ++r) {
    const auto& ref = want.rows[r];
    position = r;
    const auto row_ok = [&](std::size_t row) {
      for (std::size_t c = 0; c < ref.size(); ++c)
        if (!cell_ok(row, ref, c))
          return false;
      return true;
    };
    std::size_t match = r;
    if (used[r] || !row_ok(r)) {
      // neighbours whose sort value is equal (1 ns a call) may stand in either order
      const std::size_t by = sort_column(want);
      const auto as_far = [&](std::size_t k) {
        double x = 0;
        double y = 0;
        double count = 1;
        if (count_col != SIZE_MAX)
          number_of(ref[count_col], count);
        return by != SIZE_MAX && number_of(ref[by], x) && number_of(want.rows[k][by], y) &&
               std::fabs(x - y) <= slack_of(want.header[by], count);
      };
      for (std::size_t k = r > 0 ? r - 1 : 0; k < std::min({table.rows(), want.rows.size(), r + 2});
           ++k)
        if (!used[k] && as_far(k) && row_ok(k)) {
          match = k;
          ++tally.ties;
          break;
        }
    }
    used[match] = true;
    for (std::size_t c = 0; c < ref.size(); ++c) {
      ++tally.cells;
      if (!cell_ok(match, ref, c) && reported++ < 10) {
        const Value v = table.at(match, columns[c]);
        ADD_FAILURE() << where << " row " << r << " (" << ref[0].substr(0, 60) << ") column '"
                      << want.header[c] << "': got "
                      << (v.kind == CellKind::kText ? std::string(v.text)
                                                    : shortest_double(v.number()))
                      << ", want " << ref[c];
      }
    }
    ++tally.rows;
  }
  EXPECT_LE(reported, 10U) << where << ": " << reported << " cells differ";
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
            << tally.rows << " rows, " << tally.cells << " cells; " << tally.ties
            << " rows stand in another order among equals\n";
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

} // namespace
} // namespace rankscope
