// Outer merge of report tables by key (docs/reference/compare-rules.md 1).
#include "analyses/compare/compare_reports.h"

#include "base/counters.h"
#include "base/display_text.h"
#include "base/sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace rankscope {
namespace {

using Names = std::vector<std::string>;

/// The roles of columns: keys, columns with differences, columns that are left out.
struct Recipe {
  Names keys;
  Names diffs;
  Names drop;         ///< left out in every report
  Names drop_variant; ///< left out in all reports except the baseline
  std::string sort;   ///< baseline column to sort by, largest first; empty: sort by key
};

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Compares two values in the order of an outer merge of pandas: numbers by value, after them texts
/// by bytes, after them blanks.
int compare(const Value& a, const Value& b) {
  const auto rank = [](const Value& v) {
    return v.is_null() ? 2 : v.kind == CellKind::kText ? 1 : 0;
  };
  if (rank(a) != rank(b))
    return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) == 2)
    return 0;
  if (rank(a) == 1)
    return a.text.compare(b.text);
  return a.number() < b.number() ? -1 : a.number() > b.number() ? 1 : 0;
}

struct KeyLess {
  bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const int c = compare(a[i], b[i]); c != 0)
        return c < 0;
    return false;
  }
};

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
using Match = std::vector<std::size_t>; ///< row in each report, or kAbsent

/// The rows of each key in each report, in ascending order of the keys.
using RowsOfKeys = std::map<std::vector<Value>, std::vector<std::vector<std::size_t>>, KeyLess>;

RowsOfKeys rows_by_key(const std::vector<const Table*>& tables, const Names& keys) {
  RowsOfKeys out;
  for (std::size_t t = 0; t < tables.size(); ++t)
    for (std::size_t r = 0; r < tables[t]->rows(); ++r) {
      std::vector<Value> key;
      for (const std::string& k : keys)
        key.push_back(tables[t]->at(r, k));
      auto& rows = out[std::move(key)];
      rows.resize(tables.size());
      rows[t].push_back(r);
    }
  return out;
}

/// Matches the k-th rows of a key in all reports.
std::vector<Match> match_in_order(const RowsOfKeys& groups) {
  std::vector<Match> matches;
  for (const auto& [key, rows] : groups) {
    std::size_t most = 0;
    for (const auto& list : rows)
      most = std::max(most, list.size());
    for (std::size_t k = 0; k < most; ++k) {
      Match m;
      for (const auto& list : rows)
        m.push_back(k < list.size() ? list[k] : kAbsent);
      matches.push_back(std::move(m));
    }
  }
  return matches;
}

/// The limit for the cells of a sheet with all combinations. read_report_tables() accepts as many
/// cells of one report.
constexpr std::uint64_t kMostCombinedCells = 6'000'000;

/// Returns a key as an error shows it: its values that are not blank.
std::string text_of_key(const std::vector<Value>& key) {
  std::string out;
  for (const Value& v : key)
    if (!v.is_null())
      out += (out.empty() ? "" : ", ") +
             (v.kind == CellKind::kText ? std::string(v.text) : fmt::format("{}", v.number()));
  return shortened_middle(out, 60, false);
}

/// Checks the number of combinations before match_all() makes them. `columns`: cells of each
/// combination. Errors: kUnreadable if their cells exceed kMostCombinedCells; the error names the
/// key with the most combinations.
Result<void> check_combinations(const RowsOfKeys& groups, const std::string& sheet,
                                const Names& tags, std::uint64_t columns) {
  const std::uint64_t limit = kMostCombinedCells / std::max<std::uint64_t>(columns, 1);
  const std::vector<Value>* largest = nullptr;
  std::uint64_t total = 0, most = 0;
  for (const auto& [key, rows] : groups) {
    std::uint64_t product = 1;
    for (const auto& list : rows) // the factors are below 2^32, and the limit below 2^23
      product = std::min<std::uint64_t>(product * std::max<std::size_t>(list.size(), 1), limit + 1);
    total = std::min(total + product, limit + 1);
    if (product > most) {
      most = product;
      largest = &key;
    }
  }
  if (total <= limit)
    return {};
  const auto& rows = groups.at(*largest);
  const auto at = std::max_element(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return Error{ErrorCode::kUnreadable,
               tags[static_cast<std::size_t>(at - rows.begin())] + ": " + sheet,
               fmt::format("{} rows have the key '{}': with --compat tracelens, the rows of a key "
                           "in all reports give more than {} combinations",
                           at->size(), text_of_key(*largest), limit),
               "leave out --compat tracelens, which pairs the rows one to one, or choose other "
               "sheets with --sheets"};
}

/// Returns every combination of the rows of a key, as a pandas merge does.
std::vector<Match> match_all(const RowsOfKeys& groups) {
  std::vector<Match> matches;
  for (const auto& [key, rows] : groups) {
    std::vector<Match> product{Match{}};
    for (const auto& list : rows) {
      std::vector<Match> next;
      for (const Match& m : product) {
        for (const std::size_t r : list.empty() ? std::vector<std::size_t>{kAbsent} : list) {
          next.push_back(m);
          next.back().push_back(r);
        }
      }
      product = std::move(next);
    }
    matches.insert(matches.end(), product.begin(), product.end());
  }
  return matches;
}

/// Returns the matched rows of a sheet in ascending order of their keys. With `multiply`, these are
/// all combinations of the rows of a key. Errors: those of check_combinations().
Result<std::vector<Match>> match_rows(const std::vector<const Table*>& tables,
                                      const std::string& sheet, const Names& tags,
                                      const Names& keys, bool multiply) {
  const RowsOfKeys groups = rows_by_key(tables, keys);
  if (!multiply)
    return match_in_order(groups);
  std::uint64_t columns = 0;
  for (const Table* table : tables)
    columns += table->cols();
  RS_CHECK(check_combinations(groups, sheet, tags, columns));
  return match_all(groups);
}

Value cell(const Table& table, std::size_t row, std::string_view column) {
  return row == kAbsent ? Value() : table.at(row, column);
}

class Merger {
public:
  Merger(std::vector<const Table*> tables, Names tags, Recipe recipe, bool compat,
         std::vector<Match> matches)
      : tables_(std::move(tables)), tags_(std::move(tags)), recipe_(std::move(recipe)),
        compat_(compat), matches_(std::move(matches)) {
    if (!recipe_.sort.empty())
      sort_stably(matches_, [&](const Match& a, const Match& b) {
        const Value x = cell(*tables_[0], a[0], recipe_.sort);
        const Value y = cell(*tables_[0], b[0], recipe_.sort);
        if (x.is_null() || y.is_null())
          return !x.is_null() && y.is_null();
        return x.number() > y.number();
      });
  }

  /// Returns a table with all reports side by side.
  [[nodiscard]] Table full(const std::string& name) const {
    std::vector<std::size_t> all;
    for (std::size_t t = 0; t < tables_.size(); ++t)
      all.push_back(t);
    return build(name, all, matches_, false);
  }

  /// Adds three tables: rows in both the baseline and variant t, rows in the baseline only, rows in
  /// the variant only.
  void split(const std::string& sheet, std::size_t t, std::vector<Table>& out) const {
    std::vector<Match> both;
    std::vector<Match> base;
    std::vector<Match> variant;
    for (const Match& m : matches_)
      if (m[0] != kAbsent && m[t] != kAbsent)
        both.push_back(m);
      else if (m[0] != kAbsent)
        base.push_back(m);
      else if (m[t] != kAbsent)
        variant.push_back(m);
    const auto add = [&](const std::string& name, const std::vector<std::size_t>& which,
                         const std::vector<Match>& rows) {
      Table table = build(name, which, rows, true);
      Names filled;
      for (std::size_t c = 0; c < table.cols(); ++c)
        for (std::size_t r = 0; r < table.rows(); ++r)
          if (!table.at(r, c).is_null()) {
            filled.push_back(table.columns()[c].name);
            break;
          }
      if (table.rows() > 0)
        out.push_back(table.select(filled));
    };
    add(sheet + "_intersect_" + tags_[t], {0, t}, both);
    add(sheet + "_only_baseline_" + tags_[t], {0}, base);
    add(sheet + "_only_variant_" + tags_[t], {t}, variant);
  }

private:
  /// A column of a report that is neither a key nor left out.
  struct Other {
    std::size_t report;
    const Column* column;
  };

  [[nodiscard]] std::vector<Other> others(const std::vector<std::size_t>& which, bool split) const {
    std::vector<Other> out;
    for (const std::size_t t : which)
      for (const Column& c : tables_[t]->columns())
        if (!has(recipe_.keys, c.name) && !has(recipe_.drop, c.name) &&
            (t == 0 || !has(recipe_.drop_variant, c.name)) &&
            (compat_ || !omits(which, t, c.name, split)))
          out.push_back({t, &c});
    return out;
  }

  /// Returns whether report `t` omits a column. It omits cumulative sums, which do not fit the
  /// baseline's row order. With `split` (all reports of `which` have all rows), it also omits a
  /// `_first` column that an earlier report of `which` has.
  [[nodiscard]] bool omits(const std::vector<std::size_t>& which, std::size_t t,
                           std::string_view name, bool split) const {
    if (name.starts_with("Cumulative ") || name.ends_with("_cum_pct"))
      return t != 0;
    return split && name.ends_with("_first") &&
           std::any_of(
               which.begin(), std::find(which.begin(), which.end(), t),
               [&](std::size_t before) { return tables_[before]->column(name).has_value(); });
  }

  /// Returns the reports in `which` that are compared with the baseline.
  [[nodiscard]] static std::vector<std::size_t> variants(const std::vector<std::size_t>& which) {
    return which[0] == 0 ? std::vector<std::size_t>(which.begin() + 1, which.end())
                         : std::vector<std::size_t>{};
  }

  [[nodiscard]] std::vector<Column> columns(const std::vector<std::size_t>& which,
                                            const std::vector<Other>& others, bool presence) const {
    std::vector<Column> out;
    for (const std::string& k : recipe_.keys)
      out.push_back({k});
    if (presence)
      out.push_back({"present_in"});
    for (const std::string& d : recipe_.diffs)
      for (const std::size_t t : variants(which)) {
        out.push_back({d + "__" + tags_[t] + "_diff"});
        out.push_back({d + "__" + tags_[t] + "_pct", Unit::kPercent});
      }
    for (const Other& other : others) {
      Column column{tags_[other.report] + "::" + other.column->name, other.column->unit};
      column.hidden = is_detail(other.column->name);
      out.push_back(std::move(column));
    }
    return out;
  }

  /// Returns whether a column is shown on demand only.
  static bool is_detail(std::string_view name) {
    static constexpr std::string_view kEnds[] = {"median",
                                                 "std",
                                                 "min",
                                                 "max",
                                                 "UID",
                                                 "kernel_details_summary",
                                                 "kernel_details__summarize_kernel_stats",
                                                 "kernel_names"};
    return std::any_of(std::begin(kEnds), std::end(kEnds),
                       [&](std::string_view end) { return name.ends_with(end); });
  }

  [[nodiscard]] Table build(const std::string& name, const std::vector<std::size_t>& which,
                            const std::vector<Match>& matches, bool split) const {
    const bool presence = !split && !compat_;
    const std::vector<Other> rest = others(which, split);
    Table table(name, columns(which, rest, presence));
    for (const Match& m : matches) {
      const auto holder = static_cast<std::size_t>(
          std::ranges::find_if(m, [](std::size_t row) { return row != kAbsent; }) - m.begin());
      std::vector<Value> row;
      for (const std::string& k : recipe_.keys)
        row.push_back(tables_[holder]->at(m[holder], k));
      const std::string present = present_in(which, m); // the row refers to this text
      if (presence)
        row.emplace_back(present);
      for (const std::string& d : recipe_.diffs)
        for (const std::size_t t : variants(which))
          add_difference(row, cell(*tables_[0], m[0], d), cell(*tables_[t], m[t], d));
      for (const Other& other : rest)
        row.push_back(cell(*tables_[other.report], m[other.report], other.column->name));
      table.add_row(row);
    }
    return table;
  }

  [[nodiscard]] std::string present_in(const std::vector<std::size_t>& which,
                                       const Match& m) const {
    std::string out;
    for (const std::size_t t : which)
      if (m[t] != kAbsent)
        out += (out.empty() ? "" : ", ") + tags_[t];
    return out;
  }

  static void add_difference(std::vector<Value>& row, const Value& base, const Value& test) {
    const double b = base.number();
    const double t = test.number();
    std::int64_t difference = 0;
    if (base.kind == CellKind::kInt && test.kind == CellKind::kInt &&
        !__builtin_sub_overflow(test.i, base.i, &difference))
      row.emplace_back(difference);
    else
      row.emplace_back(t - b);
    row.emplace_back(b == 0 ? std::nan("") : 100.0 * (t - b) / b);
  }

  std::vector<const Table*> tables_;
  Names tags_;
  Recipe recipe_;
  bool compat_;
  std::vector<Match> matches_;
};

/// Returns the columns in `names` that every table has.
Names common(const std::vector<const Table*>& tables, const Names& names) {
  Names out;
  for (const std::string& name : names)
    if (std::ranges::all_of(tables, [&](const Table* t) { return t->column(name).has_value(); }))
      out.push_back(name);
  return out;
}

const char* const kCumulative = "Cumulative Percentage (%)";

Recipe kernel_summary_recipe(const std::vector<const Table*>& tables, bool compat) {
  const std::string us = "(\u00b5s)";
  if (!common(tables, {"Kernel name"}).empty()) {
    const std::string d = "Kernel duration " + us;
    Recipe r{{"Kernel name"},
             {d + "_sum", d + "_mean", d + "_count"},
             {d + "_min", d + "_max", "Parent op category"},
             {},
             d + "_sum"};
    if (!compat) // a kernel may run under several operators, with one row for each
      for (const std::string& k : common(tables, {"Parent cpu_op"}))
        r.keys.push_back(k);
    return r;
  }
  return {{"name"},
          {"Total Kernel Time (ms)", "Mean Kernel Time " + us, "Count"},
          {"Median Kernel Time " + us, "Std Kernel Time " + us, "Min Kernel Time " + us,
           "Max Kernel Time " + us, "Category"},
          {kCumulative},
          "Total Kernel Time (ms)"};
}

/// The operator families with a roofline, and their short names in sheet titles.
constexpr std::pair<const char*, const char*> kRoofline[] = {{"GEMM", "GEMM"},
                                                             {"SDPA_fwd", "SDPA_fwd"},
                                                             {"SDPA_bwd", "SDPA_bwd"},
                                                             {"CONV_fwd", "CONV_fwd"},
                                                             {"CONV_bwd", "CONV_bwd"},
                                                             {"UnaryElementwise", "un_eltwise"},
                                                             {"BinaryElementwise", "bin_eltwise"}};

Recipe roofline_recipe(const std::vector<const Table*>& tables, bool compat) {
  Recipe r;
  Names params;
  for (const Column& c : tables[0]->columns()) {
    if (c.name.rfind("param: ", 0) == 0)
      params.push_back(c.name);
    if (compat && c.name.ends_with("_first"))
      r.drop_variant.push_back(c.name);
  }
  std::sort(params.begin(), params.end());
  r.keys = {"name"};
  for (std::string& p : common(tables, params))
    r.keys.push_back(std::move(p));
  const std::string time = "Kernel Time (\u00b5s)";
  r.diffs = {time + "_sum", time + "_mean", "name_count", "TFLOPS/s_mean", "TB/s_mean"};
  r.sort = time + "_sum";
  return r;
}

Recipe timeline_recipe() {
  return {{"type"}, {"time ms"}, {}, {}, ""};
}

Recipe ops_summary_recipe(const std::vector<const Table*>& tables, bool compat) {
  Recipe r{{"name"},
           {"total_direct_kernel_time_ms", "Count"},
           {"total_direct_kernel_time_sum"},
           {kCumulative},
           "total_direct_kernel_time_ms"};
  if (!compat) // an operator has one row per combination of values of these columns
    for (const std::string& k : common(tables, {"is_recompute", "parent_module"}))
      r.keys.push_back(k);
  return r;
}

Recipe ops_all_recipe(const std::vector<const Table*>& tables) {
  const std::string time = "Kernel Time (\u00b5s)";
  Recipe r{{"name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"},
           {"total_direct_kernel_time_sum", "total_direct_kernel_time_mean", time + "_sum",
            time + "_mean", "operation_count"},
           {},
           {kCumulative},
           ""};
  r.sort = tables[0]->column(time + "_sum") ? time + "_sum" : "total_direct_kernel_time_sum";
  return r;
}

/// Compares the reports sheet by sheet, into one report.
class Comparer {
public:
  Comparer(const std::vector<Report>& reports, const std::vector<std::string>& tags,
           const CompareReportsOptions& options)
      : reports_(reports), tags_(tags), options_(options),
        all_(options.sheets.empty() || options.sheets.count("all") > 0) {
    out_.title = "comparison";
  }

  /// Compares the sheets of a group that every report has. Errors: kUsage if the group was
  /// requested and no sheet of the group is in all reports.
  template <class RecipeOf>
  Result<void> group(const char* name,
                     const std::vector<std::pair<const char*, const char*>>& sheets,
                     const RecipeOf& recipe_of, bool split) {
    if (!all_ && options_.sheets.count(name) == 0)
      return {};
    bool any = false;
    for (const auto& [sheet, title] : sheets) {
      RS_TRY(const bool done, compare_sheet(sheet, title, recipe_of, split));
      any = any || done;
    }
    const std::string_view group_name(name);
    const bool needed = options_.sheets.count(name) > 0 ||
                        (options_.compat_tracelens && all_ &&
                         (group_name == "ops_summary" || group_name == "kernel_summary"));
    if (!any && needed)
      return Error{ErrorCode::kUsage, "",
                   "not every report has the data that --sheets " + std::string(name) + " needs",
                   ""};
    return {};
  }

  Result<Report> finish() && {
    if (out_.tables.empty())
      return Error{ErrorCode::kUsage, "", "the reports have no sheet in common that is compared",
                   ""};
    return std::move(out_);
  }

private:
  /// Returns the sheet of each report. If a report lacks the sheet, the result is empty, with a
  /// warning if the baseline has the sheet.
  std::vector<const Table*> tables_of(const std::string& sheet) {
    std::vector<const Table*> tables;
    for (const Report& r : reports_)
      tables.push_back(r.find(sheet));
    const auto missing = std::find(tables.begin(), tables.end(), nullptr);
    if (missing == tables.end())
      return tables;
    if (tables[0] != nullptr)
      out_.diagnostics.add(counters::sheet_not_compared(sheet),
                           tags_[static_cast<std::size_t>(missing - tables.begin())]);
    return {};
  }

  template <class RecipeOf>
  Result<bool> compare_sheet(const std::string& sheet, const std::string& title,
                             const RecipeOf& recipe_of, bool split) {
    const std::vector<const Table*> tables = tables_of(sheet);
    if (tables.empty())
      return false;
    Recipe recipe = recipe_of(tables);
    const std::size_t wanted = recipe.keys.size();
    recipe.keys = common(tables, recipe.keys);
    recipe.diffs = common(tables, recipe.diffs);
    if (recipe.keys.empty() || (options_.compat_tracelens && recipe.keys.size() < wanted))
      return Error{ErrorCode::kUsage, sheet, "a report lacks the sheet's key columns", ""};
    RS_TRY(std::vector<Match> matches,
           match_rows(tables, sheet, tags_, recipe.keys, options_.compat_tracelens));
    const Merger merger(tables, tags_, std::move(recipe), options_.compat_tracelens,
                        std::move(matches));
    if (!split)
      out_.tables.push_back(merger.full(title));
    else
      for (std::size_t t = 1; t < tags_.size(); ++t)
        merger.split(title, t, out_.tables);
    return true;
  }

  const std::vector<Report>& reports_;
  const std::vector<std::string>& tags_;
  const CompareReportsOptions& options_;
  bool all_;
  Report out_;
};

} // namespace

Result<Report> compare_reports(const std::vector<Report>& reports,
                               const std::vector<std::string>& tags,
                               const CompareReportsOptions& options) {
  if (reports.size() < 2 || reports.size() != tags.size())
    return Error{ErrorCode::kUsage, "", "two or more reports are needed, each with one name", ""};
  if (std::set<std::string>(tags.begin(), tags.end()).size() != tags.size())
    return Error{ErrorCode::kUsage, "", "two reports have the same name",
                 "give distinct ones with --names"};
  Comparer comparer(reports, tags, options);
  const auto any = [](const char* sheet) {
    return std::vector<std::pair<const char*, const char*>>{{sheet, sheet}};
  };
  RS_CHECK(comparer.group(
      "gpu_timeline", any("gpu_timeline"), [](const auto&) { return timeline_recipe(); }, false));
  RS_CHECK(comparer.group(
      "ops_summary", any("ops_summary"),
      [&](const auto& tables) { return ops_summary_recipe(tables, options.compat_tracelens); },
      false));
  RS_CHECK(comparer.group(
      "kernel_summary", any("kernel_summary"),
      [&](const auto& tables) { return kernel_summary_recipe(tables, options.compat_tracelens); },
      false));
  RS_CHECK(comparer.group("ops_all",
                          {{"ops_all", "ops_all"},
                           {"ops_unique_args", "ops_unique_args"},
                           {"unified_perf_summary", "unified_perf_summary"}},
                          ops_all_recipe, true));
  RS_CHECK(comparer.group(
      "roofline", {std::begin(kRoofline), std::end(kRoofline)},
      [&](const auto& tables) { return roofline_recipe(tables, options.compat_tracelens); }, true));
  return std::move(comparer).finish();
}

} // namespace rankscope
