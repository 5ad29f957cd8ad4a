// ops_summary_by_category, ops_summary and ops_unique_args: kernel time by launching operator
// (perf-report.md 1.2).
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "base/units.h"
#include "core/arg_text.h"

#include <map>
#include <set>
#include <unordered_map>

namespace rankscope {
namespace {

struct Sum {
  double direct_us = 0;
  double subtree_us = 0;
  std::int64_t count = 0;
  std::set<std::string_view> categories;
};

Table by_category(const LauncherIndex& index, const ReportOptions& options) {
  std::vector<Column> columns{{"op category"}};
  if (options.detect_recompute)
    columns.push_back({"is_recompute"});
  for (Column c : {Column{"Count", Unit::kCount}, Column{"total_direct_kernel_time_ms", Unit::kMs},
                   Column{"Percentage (%)", Unit::kPercent},
                   Column{"Cumulative Percentage (%)", Unit::kPercent}})
    columns.push_back(std::move(c));
  Table table("ops_summary_by_category", std::move(columns));
  std::map<std::pair<std::string_view, bool>, Sum> groups;
  for (const Launcher& l : index.launchers) {
    Sum& sum = groups[{l.category, l.recompute}];
    sum.direct_us += ns_to_us(l.direct_ns);
    ++sum.count;
  }
  for (const auto& [key, sum] : groups) {
    std::vector<Value> row{key.first};
    if (options.detect_recompute)
      row.emplace_back(key.second);
    row.emplace_back(sum.count);
    row.emplace_back(sum.direct_us / 1e3);
    table.add_row(row);
  }
  const std::size_t ms = *table.column("total_direct_kernel_time_ms");
  sort_desc(table, ms);
  fill_percentages(table, ms);
  return table;
}

Table by_name(const Trace& trace, const LauncherIndex& index, const ReportOptions& options) {
  std::vector<Column> columns{{"name"}};
  if (options.detect_recompute)
    columns.push_back({"is_recompute"});
  for (Column c : {Column{"total_direct_kernel_time_sum", Unit::kUs},
                   Column{"total_subtree_kernel_time_sum", Unit::kUs},
                   Column{"total_direct_kernel_time_ms", Unit::kMs},
                   Column{"total_subtree_kernel_time_ms", Unit::kMs}, Column{"Count", Unit::kCount},
                   Column{"Categories"}, Column{"Percentage (%)", Unit::kPercent},
                   Column{"Cumulative Percentage (%)", Unit::kPercent}})
    columns.push_back(std::move(c));
  Table table("ops_summary", std::move(columns));
  std::map<std::pair<std::string_view, bool>, Sum> groups;
  for (const Launcher& l : index.launchers) {
    Sum& sum = groups[{trace.name(l.event), l.recompute}];
    sum.direct_us += ns_to_us(l.direct_ns);
    sum.subtree_us += ns_to_us(l.subtree_ns);
    ++sum.count;
    sum.categories.insert(l.category);
  }
  for (const auto& [key, sum] : groups) {
    std::string categories = "[";
    for (const std::string_view c : sum.categories)
      categories += (categories.size() > 1 ? ", " : "") + python_quote(c);
    categories += "]";
    std::vector<Value> row{key.first};
    if (options.detect_recompute)
      row.emplace_back(key.second);
    for (const Value& v : {Value(sum.direct_us), Value(sum.subtree_us), Value(sum.direct_us / 1e3),
                           Value(sum.subtree_us / 1e3), Value(sum.count)})
      row.push_back(v);
    row.emplace_back(categories);
    table.add_row(row);
  }
  const std::size_t direct = *table.column("total_direct_kernel_time_sum");
  sort_desc(table, direct);
  fill_percentages(table, direct);
  return table;
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
  const LauncherIndex& index = launchers_of(t, options);
  std::vector<Table> out;
  bool any_cpu_op = false;
  for (const Category c : t.trace.events.category)
    any_cpu_op = any_cpu_op || c == Category::kCpuOp;
  if (index.launchers.empty() || !any_cpu_op)
    return out; // GPU-only traces have no operators (1.10)
  out.push_back(by_category(index, options));
  out.push_back(by_name(t.trace, index, options));
  out.push_back(unique_args(t, index, options, nullptr));
  keep_top(out[1], options.top_k > 0 ? options.top_k : options.top_k_ops);
  keep_top(out[2], options.top_k_ops);
  if (options.include_overlap_info) {
    out.push_back(unique_args(t, index, options, &overlaps_of(t, options)));
    keep_top(out[3], options.top_k_ops);
  }
  return out;
}

} // namespace

const Analysis ops_summary_analysis{
    "ops_summary",
    "kernel time by operator and category",
    {"ops_summary_by_category", "ops_summary", "ops_unique_args", "ops_unique_args_kl_overlap"},
    run};

} // namespace rankscope
