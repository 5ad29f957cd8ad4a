// ops_summary_by_category, ops_summary and ops_unique_args: kernel time by launching operator
// (perf-report.md 1.2).
#include "analyses/operators/ops_summary.h"

#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "base/units.h"
#include "core/arg_text.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

const char* const kRecomputeHelp = "work that activation checkpointing repeats";
const char* const kDirectHelp =
    "sum over the calls of the union of the kernels that they launched themselves";
const char* const kSubtreeHelp =
    "sum over the calls of the union of all GPU work below them, communication included";

bool any_cpu_op(const Trace& trace) {
  const std::vector<Category>& c = trace.events.category;
  return std::find(c.begin(), c.end(), Category::kCpuOp) != c.end();
}

std::vector<OpsCategoryRow> make_categories(const LauncherIndex& index) {
  std::map<std::pair<std::string_view, bool>, OpsCategoryRow> groups;
  for (const Launcher& l : index.launchers) {
    OpsCategoryRow& row = groups[{l.category, l.recompute}];
    row.category = l.category;
    row.recompute = l.recompute;
    row.direct_ns += l.direct_ns;
    row.direct_us += ns_to_us(l.direct_ns);
    ++row.count;
  }
  std::vector<OpsCategoryRow> rows;
  for (const auto& group : groups)
    rows.push_back(group.second);
  std::stable_sort(rows.begin(), rows.end(), [](const OpsCategoryRow& a, const OpsCategoryRow& b) {
    return a.direct_us > b.direct_us;
  });
  fill_shares(rows, [](const OpsCategoryRow& r) { return r.direct_us / 1e3; });
  return rows;
}

std::vector<OpsSummaryRow> make_summary(const Trace& trace, const LauncherIndex& index) {
  struct Group {
    OpsSummaryRow row;
    std::set<std::string_view> categories;
  };
  std::map<std::pair<std::string_view, bool>, Group> groups;
  for (const Launcher& l : index.launchers) {
    Group& group = groups[{trace.name(l.event), l.recompute}];
    OpsSummaryRow& row = group.row;
    row.direct_ns += l.direct_ns;
    row.subtree_ns += l.subtree_ns;
    row.direct_us += ns_to_us(l.direct_ns);
    row.subtree_us += ns_to_us(l.subtree_ns);
    ++row.count;
    group.categories.insert(l.category);
  }
  std::vector<OpsSummaryRow> rows;
  for (auto& [key, group] : groups) {
    group.row.name = key.first;
    group.row.recompute = key.second;
    group.row.categories = "[";
    for (const std::string_view c : group.categories)
      group.row.categories += (group.row.categories.size() > 1 ? ", " : "") + python_quote(c);
    group.row.categories += "]";
    rows.push_back(std::move(group.row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OpsSummaryRow& a, const OpsSummaryRow& b) {
    return a.direct_us > b.direct_us;
  });
  fill_shares(rows, [](const OpsSummaryRow& r) { return r.direct_us; });
  return rows;
}

/// ops_unique_args; with `overlaps`, ops_unique_args_kl_overlap: grouped also by what ran beside.
Table unique_args(const LoadedTrace& t, const LauncherIndex& index, const ReportOptions& options,
                  const KernelOverlaps* overlaps) {
  const Trace& trace = t.trace;
  std::vector<Column> columns;
  for (const char* key : {"name", "op category", "process_name", "process_label", "thread_name",
                          "Input Dims", "Input type", "Input Strides", "Concrete Inputs"})
    columns.push_back({key});
  if (options.group_by_num_kernels)
    columns.push_back({"num_kernels", Unit::kCount});
  if (options.detect_recompute)
    columns.push_back({"is_recompute"});
  columns.push_back({"operation_count", Unit::kCount});
  if (options.include_first_occurrence_time)
    columns.push_back({"first_occurrence_time", Unit::kUs});
  for (const char* x : {"mean", "median", "std", "min", "max", "sum"}) {
    columns.push_back({std::string("total_direct_kernel_time_") + x, Unit::kUs});
    columns.push_back({std::string("total_subtree_kernel_time_") + x, Unit::kUs});
  }
  columns.push_back({"ex_UID"});
  columns.push_back({"kernel_details_summary"});
  columns.push_back({"trunc_kernel_details"});
  if (overlaps != nullptr)
    add_overlap_columns(columns);
  columns.push_back({"Percentage (%)", Unit::kPercent});
  columns.push_back({"Cumulative Percentage (%)", Unit::kPercent});
  Table table(overlaps == nullptr ? "ops_unique_args" : "ops_unique_args_kl_overlap",
              std::move(columns));

  struct Group {
    std::vector<const Launcher*> calls;
    std::vector<KernelOverlaps::Call> beside;
  };
  OverlapGroups sets;
  std::unordered_map<OpKey, std::size_t, OpKeyHash> rows;
  std::vector<std::pair<OpKey, Group>> groups;
  std::int64_t table_first = INT64_MAX;
  for (const Launcher& l : index.launchers) {
    OpKey key = op_key(trace, l.event, l.category);
    if (options.group_by_num_kernels)
      key.num_kernels = l.kernel_end - l.kernel_begin;
    key.recompute = l.recompute;
    KernelOverlaps::Call beside;
    if (overlaps != nullptr) {
      beside = overlaps->of(trace, index.kernels_of(l));
      key.overlap_set = sets.id_of(trace, beside);
    }
    const auto [it, fresh] = rows.emplace(key, groups.size());
    if (fresh)
      groups.push_back({key, {}});
    groups[it->second].second.calls.push_back(&l);
    if (overlaps != nullptr)
      groups[it->second].second.beside.push_back(std::move(beside));
    table_first = std::min(table_first, trace.events.ts_ns[l.event]);
  }
  OpKeyTexts texts(trace);
  for (const auto& [key, group] : groups) {
    std::vector<double> direct;
    std::vector<double> subtree;
    std::vector<std::span<const EventId>> kernels;
    std::int64_t first = INT64_MAX;
    for (const Launcher* l : group.calls) {
      direct.push_back(ns_to_us(l->direct_ns));
      subtree.push_back(ns_to_us(l->subtree_ns));
      kernels.push_back(index.kernels_of(*l));
      first = std::min(first, trace.events.ts_ns[l->event]);
    }
    const Stats d = stats_of(std::move(direct));
    const Stats s = stats_of(std::move(subtree));
    const KernelDetails details = kernel_details(trace, kernels);
    std::vector<Value> row = texts.values(key);
    if (options.group_by_num_kernels)
      row.emplace_back(static_cast<std::int64_t>(key.num_kernels));
    if (options.detect_recompute)
      row.emplace_back(key.recompute);
    row.emplace_back(group.calls.size());
    if (options.include_first_occurrence_time)
      row.emplace_back(ns_to_us(first - table_first));
    for (const auto& [x, y] : {std::pair{d.mean, s.mean},
                               {d.median, s.median},
                               {d.std_sample, s.std_sample},
                               {d.min, s.min},
                               {d.max, s.max},
                               {d.sum, s.sum}}) {
      row.emplace_back(x);
      row.emplace_back(y);
    }
    row.emplace_back(trace.events.uid[group.calls.front()->event]);
    row.emplace_back(details.summary);
    row.emplace_back(details.truncated);
    const OverlapCells cells = overlap_cells(trace, group.beside);
    if (overlaps != nullptr)
      cells.append_to(row);
    table.add_row(row);
  }
  const std::size_t sum = *table.column("total_direct_kernel_time_sum");
  sort_desc(table, sum, *table.column("ex_UID"));
  fill_percentages(table, sum);
  return table;
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  const std::vector<OpsSummaryRow>& summary = ops_summary_of(t, options);
  if (summary.empty())
    return out; // GPU-only traces have no operators (1.10)
  const LauncherIndex& index = launchers_of(t, options);
  out.push_back(ops_category_schema(options).table(ops_categories_of(t, options)));
  out.push_back(ops_summary_table(summary, options));
  out.push_back(unique_args(t, index, options, nullptr));
  keep_top(out[2], options.top_k_ops);
  if (options.include_overlap_info) {
    out.push_back(unique_args(t, index, options, &overlaps_of(t, options)));
    keep_top(out[3], options.top_k_ops);
  }
  return out;
}

} // namespace

const std::vector<OpsCategoryRow>& ops_categories_of(const LoadedTrace& trace,
                                                     const ReportOptions& options) {
  const std::string key = fmt::format("ops by category recompute={}", options.detect_recompute);
  return trace.cache.get<std::vector<OpsCategoryRow>>(key, [&] {
    return any_cpu_op(trace.trace) ? make_categories(launchers_of(trace, options))
                                   : std::vector<OpsCategoryRow>();
  });
}

const std::vector<OpsSummaryRow>& ops_summary_of(const LoadedTrace& trace,
                                                 const ReportOptions& options) {
  const std::string key = fmt::format("ops summary recompute={}", options.detect_recompute);
  return trace.cache.get<std::vector<OpsSummaryRow>>(key, [&] {
    return any_cpu_op(trace.trace) ? make_summary(trace.trace, launchers_of(trace, options))
                                   : std::vector<OpsSummaryRow>();
  });
}

Schema<OpsCategoryRow> ops_category_schema(const ReportOptions& options) {
  using R = OpsCategoryRow;
  Schema<R> schema("ops_summary_by_category", "kernel time by category of the launching operator",
                   {{"op_category", "op category", Unit::kNone, CellKind::kText,
                     [](const R& r) { return Value(r.category); },
                     "what kind of work the operator does, by its name and kernels"}});
  if (options.detect_recompute)
    schema.add({"is_recompute", "is_recompute", Unit::kNone, CellKind::kBool,
                [](const R& r) { return Value(r.recompute); }, kRecomputeHelp});
  schema.add({"count", "Count", Unit::kCount, CellKind::kInt,
              [](const R& r) { return Value(r.count); },
              "calls of operators that launched kernels other than communication"});
  schema.add({"direct_kernel_time_ms", "total_direct_kernel_time_ms", Unit::kMs, CellKind::kDouble,
              [](const R& r) { return Value(r.direct_us / 1e3); }, kDirectHelp});
  add_shares(schema, "the direct kernel time");
  return schema;
}

Schema<OpsSummaryRow> ops_summary_schema(const ReportOptions& options) {
  using R = OpsSummaryRow;
  Schema<R> schema(
      "ops_summary", "kernel time by name of the launching operator",
      {{"name", "name", Unit::kNone, CellKind::kText, [](const R& r) { return Value(r.name); },
        "the operator nearest above the launch, or the launching call"}});
  if (options.detect_recompute)
    schema.add({"is_recompute", "is_recompute", Unit::kNone, CellKind::kBool,
                [](const R& r) { return Value(r.recompute); }, kRecomputeHelp});
  schema.add({"direct_kernel_time_us_sum", "total_direct_kernel_time_sum", Unit::kUs,
              CellKind::kDouble, [](const R& r) { return Value(r.direct_us); }, kDirectHelp});
  schema.add({"subtree_kernel_time_us_sum", "total_subtree_kernel_time_sum", Unit::kUs,
              CellKind::kDouble, [](const R& r) { return Value(r.subtree_us); }, kSubtreeHelp});
  schema.add({"direct_kernel_time_ms", "total_direct_kernel_time_ms", Unit::kMs, CellKind::kDouble,
              [](const R& r) { return Value(r.direct_us / 1e3); }, kDirectHelp});
  schema.add({"subtree_kernel_time_ms", "total_subtree_kernel_time_ms", Unit::kMs,
              CellKind::kDouble, [](const R& r) { return Value(r.subtree_us / 1e3); },
              kSubtreeHelp});
  schema.add({"count", "Count", Unit::kCount, CellKind::kInt,
              [](const R& r) { return Value(r.count); },
              "calls that launched kernels other than communication"});
  schema.add({"categories", "Categories", Unit::kNone, CellKind::kText,
              [](const R& r) { return Value(r.categories); },
              "Python list of the categories of its calls"});
  add_shares(schema, "the direct kernel time");
  return schema;
}

Table ops_summary_table(const std::vector<OpsSummaryRow>& rows, const ReportOptions& options) {
  Table table = ops_summary_schema(options).table(rows);
  keep_top(table, options.top_k > 0 ? options.top_k : options.top_k_ops);
  return table;
}

const Analysis ops_summary_analysis{
    "ops_summary",
    "kernel time by operator and category",
    {"ops_summary_by_category", "ops_summary", "ops_unique_args", "ops_unique_args_kl_overlap"},
    run};

} // namespace rankscope
