// ops_unique_args (docs/reference/report-rules.md 9).
#include "analyses/operators/unique_args.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/parent_modules.h"
#include "base/sort.h"

#include <unordered_map>

namespace rankscope {
namespace {

struct UniqueArgsGroup {
  OpKey key;
  std::vector<const Launcher*> calls;
  std::vector<KernelOverlaps::Call> overlaps;
};

/// Returns groups in order of first appearance.
std::vector<UniqueArgsGroup> group_calls(const LoadedTrace& t, const UniqueArgsKey& wanted,
                                         const LauncherIndex& index) {
  const KernelOverlaps* const overlaps =
      wanted.by_overlap ? &t.shared(OverlapsKey{wanted.launchers}) : nullptr;
  OverlapGroups sets;
  std::unordered_map<OpKey, std::size_t, OpKeyHash> rows;
  std::vector<UniqueArgsGroup> groups;
  const ParentModules* const modules = wanted.modules ? &t.shared(*wanted.modules) : nullptr;
  for (const Launcher& l : index.launchers) {
    OpKey key = op_key(t.trace, l.event, l.category);
    if (wanted.num_kernels)
      key.num_kernels = l.kernel_end - l.kernel_begin;
    key.recompute = l.recompute;
    if (modules != nullptr)
      key.module = modules->name_index[static_cast<std::size_t>(&l - index.launchers.data())];
    KernelOverlaps::Call overlap;
    if (overlaps != nullptr) {
      overlap = overlaps->find(t.trace, index.kernels_of(l));
      key.overlap_set = sets.id_of(t.trace, overlap);
    }
    const auto [it, fresh] = rows.emplace(key, groups.size());
    if (fresh)
      groups.push_back({key, {}, {}});
    groups[it->second].calls.push_back(&l);
    if (overlaps != nullptr)
      groups[it->second].overlaps.push_back(std::move(overlap));
  }
  return groups;
}

} // namespace

std::vector<UniqueArgsRow> compute(const LoadedTrace& t, const UniqueArgsKey& key) {
  const Trace& trace = t.trace;
  const LauncherIndex& index = t.shared(key.launchers);
  const std::vector<UniqueArgsGroup> groups = group_calls(t, key, index);
  std::int64_t table_first = INT64_MAX;
  for (const Launcher& l : index.launchers)
    table_first = std::min(table_first, trace.events.ts_ns[l.event]);
  OpKeyTexts texts(trace);
  std::vector<UniqueArgsRow> out;
  for (const UniqueArgsGroup& group : groups) {
    std::vector<double> direct;
    std::vector<double> subtree;
    std::vector<std::span<const EventId>> kernels;
    std::int64_t first = INT64_MAX;
    for (const Launcher* l : group.calls) {
      direct.push_back(l->direct_ns);
      subtree.push_back(l->subtree_ns);
      kernels.push_back(index.kernels_of(*l));
      first = std::min(first, trace.events.ts_ns[l->event]);
    }
    UniqueArgsRow& row = out.emplace_back();
    row.op = texts.labels(group.key);
    row.num_kernels = group.key.num_kernels;
    row.recompute = group.key.recompute;
    row.count = group.calls.size();
    row.first_ns = first - table_first;
    row.direct_ns = std::accumulate(direct.begin(), direct.end(), 0.0);
    row.direct_us = stats_of_ns(std::move(direct));
    row.subtree_us = stats_of_ns(std::move(subtree));
    row.example_uid = trace.events.uid[group.calls.front()->event];
    row.details = kernel_details(trace, kernels, key.launchers.compat);
    if (key.modules) {
      row.parent_module = t.shared(*key.modules).names[group.key.module];
      row.call_stack = module_stack(t, group.calls.front()->event, key.launchers.compat);
    }
    if (key.graphs)
      row.graph = graph_cell(t, t.shared(*key.graphs), kernels);
    if (key.by_overlap)
      row.overlap = overlap_cells(trace, group.overlaps);
  }
  sort_stably(out, [](const UniqueArgsRow& a, const UniqueArgsRow& b) {
    return a.direct_ns != b.direct_ns ? a.direct_ns > b.direct_ns : a.example_uid < b.example_uid;
  });
  fill_shares(out, &UniqueArgsRow::direct_ns);
  return out;
}

Schema<UniqueArgsRow> unique_args_schema(const ReportOptions& options, bool by_overlap) {
  using R = UniqueArgsRow;
  Schema<R> schema(by_overlap ? "ops_unique_args_kl_overlap" : "ops_unique_args",
                   by_overlap ? "kernel time by operator, arguments and the kernels of other "
                                "operators that ran at the same time"
                              : "kernel time by operator and arguments");
  add_op_columns(schema, &R::op, options.group_by_parent_module ? &R::parent_module : nullptr);
  add_key_options(schema, options.group_by_num_kernels, options.detect_recompute);
  schema.add({"operation_count", Unit::kCount, &R::count,
              "number of calls that launched kernels other than communication"});
  if (options.include_first_occurrence_time)
    schema.add({"first_occurrence_time_us", "first_occurrence_time", Unit::kUs, in_us(&R::first_ns),
                "time from the start of the first call in the sheet to the start of the first call "
                "of this row"});
  for (const StatField& stat : kSpreadAndSum) {
    add_stats(schema, "direct_kernel_time_us", "total_direct_kernel_time", Unit::kUs, &R::direct_us,
              {&stat, 1},
              "time of the kernels that a call launched itself (overlapping kernels count once); "
              "the header names the statistic over the calls");
    add_stats(schema, "subtree_kernel_time_us", "total_subtree_kernel_time", Unit::kUs,
              &R::subtree_us, {&stat, 1},
              "time of all GPU work that a call and the operators inside it launched, including "
              "communication (overlapping work counts once); the header names the statistic over "
              "the calls");
  }
  schema.add({"example_uid", "ex_UID", Unit::kNone, &R::example_uid,
              "index of the first call in the file's traceEvents"});
  if (options.group_by_parent_module)
    schema.add({"call_stack", &R::call_stack,
                "Python list of the first call and the nn.Modules around it, innermost first"});
  add_detail_columns(schema, &R::details);
  if (by_overlap)
    add_overlap_columns(schema, &R::overlap);
  if (options.graph_columns)
    add_graph_columns(schema, &R::graph);
  add_shares(schema, "the direct kernel time");
  return schema;
}

} // namespace rankscope
