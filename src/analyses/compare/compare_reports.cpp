// Outer merge of report tables by key (docs/reference/compare-rules.md 1).
#include "analyses/compare/compare_reports.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rankscope {
namespace {

using Names = std::vector<std::string>;

/// Which columns are keys, which get differences, which are left out.
struct Recipe {
  Names keys;
  Names diffs;
  Names drop;         ///< in every report
  Names drop_variant; ///< in all but the baseline
  std::string sort;   ///< baseline column, largest first; empty: by key
};

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Numbers by value, then texts by bytes, blanks last: pandas' order of an outer merge.
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

/// Rows that belong together, keys ascending. `multiply`: every combination, as pandas merges.
std::vector<Match> match_rows(const std::vector<const Table*>& tables, const Names& keys,
                              bool multiply) {
  std::map<std::vector<Value>, std::vector<std::vector<std::size_t>>, KeyLess> groups;
  for (std::size_t t = 0; t < tables.size(); ++t)
    for (std::size_t r = 0; r < tables[t]->rows(); ++r) {
      std::vector<Value> key;
      for (const std::string& k : keys)
        key.push_back(tables[t]->at(r, k));
      auto& rows = groups[std::move(key)];
      rows.resize(tables.size());
      rows[t].push_back(r);
    }
  std::vector<Match> matches;
  for (const auto& [key, rows] : groups) {
    if (!multiply) {
      std::size_t most = 0;
      for (const auto& list : rows)
        most = std::max(most, list.size());
      for (std::size_t k = 0; k < most; ++k) {
        Match m;
        for (const auto& list : rows)
          m.push_back(k < list.size() ? list[k] : kAbsent);
        matches.push_back(std::move(m));
      }
      continue;
    }
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

Value cell(const Table& table, std::size_t row, std::string_view column) {
  return row == kAbsent ? Value() : table.at(row, column);
}

class Merger {
public:
  Merger(std::vector<const Table*> tables, Names tags, Recipe recipe, bool compat)
      : tables_(std::move(tables)), tags_(std::move(tags)), recipe_(std::move(recipe)),
        compat_(compat), matches_(match_rows(tables_, recipe_.keys, compat)) {
    if (!recipe_.sort.empty())
      std::stable_sort(matches_.begin(), matches_.end(), [&](const Match& a, const Match& b) {
        const Value x = cell(*tables_[0], a[0], recipe_.sort);
        const Value y = cell(*tables_[0], b[0], recipe_.sort);
        if (x.is_null() || y.is_null())
          return !x.is_null() && y.is_null();
        return x.number() > y.number();
      });
  }

  /// All reports side by side.
  [[nodiscard]] Table full(const std::string& name) const {
    std::vector<std::size_t> all;
    for (std::size_t t = 0; t < tables_.size(); ++t)
      all.push_back(t);
    return build(name, all, matches_, !compat_);
  }

  /// Rows in the baseline and in variant t, in the baseline only, in the variant only.
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
      Table table = build(name, which, rows, false);
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
  [[nodiscard]] Table build(const std::string& name, const std::vector<std::size_t>& which,
                            const std::vector<Match>& matches, bool presence) const {
    std::vector<Column> columns;
    for (const std::string& k : recipe_.keys)
      columns.push_back({k});
    if (presence)
      columns.push_back({"present_in"});
    const bool with_base = which[0] == 0;
    for (const std::string& d : recipe_.diffs)
      for (const std::size_t t : which)
        if (t != 0 && with_base) {
          columns.push_back({d + "__" + tags_[t] + "_diff"});
          columns.push_back({d + "__" + tags_[t] + "_pct", Unit::kPercent});
        }
    std::vector<std::pair<std::size_t, std::string>> others;
    for (const std::size_t t : which)
      for (const Column& c : tables_[t]->columns())
        if (!has(recipe_.keys, c.name) && !has(recipe_.drop, c.name) &&
            (t == 0 || !has(recipe_.drop_variant, c.name))) {
          others.emplace_back(t, c.name);
          Column column{tags_[t] + "::" + c.name, c.unit};
          for (const char* end : {"median", "std", "min", "max", "UID", "kernel_details_summary",
                                  "kernel_details__summarize_kernel_stats", "kernel_names"}) {
            const std::string_view suffix(end);
            column.hidden = column.hidden || (c.name.size() >= suffix.size() &&
                                              c.name.compare(c.name.size() - suffix.size(),
                                                             suffix.size(), suffix) == 0);
          }
          columns.push_back(std::move(column));
        }
    Table table(name, std::move(columns));
    for (const Match& m : matches) {
      std::vector<Value> row;
      std::size_t holder = 0;
      while (m[holder] == kAbsent)
        ++holder;
      for (const std::string& k : recipe_.keys)
        row.push_back(tables_[holder]->at(m[holder], k));
      std::string present;
      for (const std::size_t t : which)
        if (m[t] != kAbsent)
          present += (present.empty() ? "" : ", ") + tags_[t];
      if (presence)
        row.emplace_back(present);
      for (const std::string& d : recipe_.diffs)
        for (const std::size_t t : which)
          if (t != 0 && with_base)
            add_difference(row, cell(*tables_[0], m[0], d), cell(*tables_[t], m[t], d));
      for (const auto& [t, column] : others)
        row.push_back(cell(*tables_[t], m[t], column));
      table.add_row(row);
    }
    return table;
  }

  static void add_difference(std::vector<Value>& row, const Value& base, const Value& test) {
    const double b = base.number();
    const double t = test.number();
    if (base.kind == CellKind::kInt && test.kind == CellKind::kInt)
      row.emplace_back(test.i - base.i);
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

/// Columns that every table has, out of `names`.
Names common(const std::vector<const Table*>& tables, const Names& names) {
  Names out;
  for (const std::string& name : names)
    if (std::all_of(tables.begin(), tables.end(),
                    [&](const Table* t) { return t->column(name).has_value(); }))
      out.push_back(name);
  return out;
}

Recipe kernel_summary_recipe(const std::vector<const Table*>& tables, bool compat) {
  const std::string us = "(\u00b5s)";
  if (!common(tables, {"Kernel name"}).empty()) {
    const std::string d = "Kernel duration " + us;
    Recipe r{{"Kernel name"},
             {d + "_sum", d + "_mean", d + "_count"},
             {d + "_min", d + "_max", "Parent op category"},
             {},
             d + "_sum"};
    if (!compat) // one kernel runs under several operators: those rows are not alike
      for (const std::string& k : common(tables, {"Parent cpu_op"}))
        r.keys.push_back(k);
    return r;
  }
  return {{"name"},
          {"Total Kernel Time (ms)", "Mean Kernel Time " + us, "Count"},
          {"Median Kernel Time " + us, "Std Kernel Time " + us, "Min Kernel Time " + us,
           "Max Kernel Time " + us, "Category"},
          {"Cumulative Percentage (%)"},
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

Recipe roofline_recipe(const std::vector<const Table*>& tables) {
  Recipe r;
  Names params;
  for (const Column& c : tables[0]->columns()) {
    if (c.name.rfind("param: ", 0) == 0)
      params.push_back(c.name);
    if (c.name.size() > 6 && c.name.compare(c.name.size() - 6, 6, "_first") == 0)
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

} // namespace

Result<Report> compare_reports(const std::vector<Report>& reports,
                               const std::vector<std::string>& tags,
                               const CompareReportsOptions& options) {
  if (reports.size() < 2 || reports.size() != tags.size())
    return Error{ErrorCode::kUsage, "", "two or more reports are needed, each with one name", ""};
  if (std::set<std::string>(tags.begin(), tags.end()).size() != tags.size())
    return Error{ErrorCode::kUsage, "", "two reports have the same name",
                 "give distinct ones with --names"};
  const bool all = options.sheets.empty() || options.sheets.count("all") > 0;
  const bool compat = options.compat_tracelens;
  Report out;
  out.title = "comparison";
  const auto tables_of = [&](const std::string& sheet) {
    std::vector<const Table*> tables;
    for (const Report& r : reports)
      tables.push_back(r.find(sheet));
    return tables;
  };
  /// Runs a comparison when every report has the sheet with its key columns.
  const auto usable = [&](const std::string& sheet, const std::vector<const Table*>& tables) {
    for (std::size_t t = 0; t < tables.size(); ++t)
      if (tables[t] == nullptr) {
        if (tables[0] != nullptr)
          out.diagnostics.add(Severity::kWarning, "sheet_not_compared_" + sheet, tags[t],
                              "the report has no sheet " + sheet + "; it is left out");
        return false;
      }
    return true;
  };
  const auto run = [&](const std::string& sheet, const std::string& title, auto&& recipe_of,
                       bool split) -> Result<bool> {
    const std::vector<const Table*> tables = tables_of(sheet);
    if (!usable(sheet, tables))
      return false;
    Recipe recipe = recipe_of(tables);
    const std::size_t wanted = recipe.keys.size();
    recipe.keys = common(tables, recipe.keys);
    recipe.diffs = common(tables, recipe.diffs);
    if (recipe.keys.empty() || (compat && recipe.keys.size() < wanted))
      return Error{ErrorCode::kUsage, sheet, "a report lacks the sheet's key columns", ""};
    const Merger merger(tables, tags, std::move(recipe), compat);
    if (!split)
      out.tables.push_back(merger.full(title));
    else
      for (std::size_t t = 1; t < tags.size(); ++t)
        merger.split(title, t, out.tables);
    return true;
  };

  const auto needed = [&](const std::string& group, bool done) -> Result<void> {
    if (!done && (options.sheets.count(group) > 0 ||
                  (compat && all && (group == "ops_summary" || group == "kernel_summary"))))
      return Error{ErrorCode::kUsage, "", "not every report has what --sheets " + group + " needs",
                   ""};
    return {};
  };
  const auto asked = [&](const char* group) { return all || options.sheets.count(group) > 0; };

  if (asked("gpu_timeline")) {
    RS_TRY(const bool done, run(
                                "gpu_timeline", "gpu_timeline",
                                [](const auto&) {
                                  return Recipe{{"type"}, {"time ms"}, {}, {}, ""};
                                },
                                false));
    RS_CHECK(needed("gpu_timeline", done));
  }
  if (asked("ops_summary")) {
    RS_TRY(const bool done, run(
                                "ops_summary", "ops_summary",
                                [](const auto&) {
                                  return Recipe{{"name"},
                                                {"total_direct_kernel_time_ms", "Count"},
                                                {"total_direct_kernel_time_sum"},
                                                {"Cumulative Percentage (%)"},
                                                "total_direct_kernel_time_ms"};
                                },
                                false));
    RS_CHECK(needed("ops_summary", done));
  }
  if (asked("kernel_summary")) {
    RS_TRY(const bool done,
           run(
               "kernel_summary", "kernel_summary",
               [&](const auto& tables) { return kernel_summary_recipe(tables, compat); }, false));
    RS_CHECK(needed("kernel_summary", done));
  }
  if (asked("ops_all")) {
    bool any = false;
    for (const char* sheet : {"ops_all", "ops_unique_args", "unified_perf_summary"}) {
      RS_TRY(const bool done,
             run(
                 sheet, sheet,
                 [&](const std::vector<const Table*>& tables) {
                   const std::string time = "Kernel Time (\u00b5s)";
                   Recipe r{
                       {"name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"},
                       {"total_direct_kernel_time_sum", "total_direct_kernel_time_mean",
                        time + "_sum", time + "_mean", "operation_count"},
                       {},
                       {"Cumulative Percentage (%)"},
                       ""};
                   r.sort = tables[0]->column(time + "_sum") ? time + "_sum"
                                                             : "total_direct_kernel_time_sum";
                   return r;
                 },
                 true));
      any = any || done;
    }
    RS_CHECK(needed("ops_all", any));
  }
  if (asked("roofline")) {
    bool any = false;
    for (const auto& [sheet, title] : kRoofline) {
      RS_TRY(const bool done, run(sheet, title, roofline_recipe, true));
      any = any || done;
    }
    RS_CHECK(needed("roofline", any));
  }
  if (out.tables.empty())
    return Error{ErrorCode::kUsage, "", "the reports have no sheet in common that is compared", ""};
  return out;
}

} // namespace rankscope
