// Kernel time by operator and arguments: the facts behind ops_unique_args and
// ops_unique_args_kl_overlap.
#pragma once

#include "analyses/analysis.h"
#include "analyses/graph/graph_attribution.h"
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/op_key.h"
#include "analyses/operators/parent_modules.h"

#include <vector>

namespace rankscope {

/// All launchers with one key. Views live as long as the trace.
struct UniqueArgsRow {
  OpLabels op;
  std::uint32_t num_kernels = 0; ///< kernels of a call; 0 unless the options make it a key
  bool recompute = false;
  std::size_t count = 0;
  std::int64_t first_ns = 0; ///< start of the first call, relative to the earliest launcher
  double direct_ns = 0;      ///< sum of the direct times of the calls
  Stats direct_us; ///< over the calls: time of the union of the kernels that a call launched itself
  Stats subtree_us; ///< over the calls: time of all GPU work below the call, with communication
  std::uint32_t example_uid = 0;         ///< uid of the first call
  std::string parent_module, call_stack; ///< values of the first call; set if the module is a key
  KernelDetails details;
  OverlapCells overlap; ///< set with `by_overlap`
  GraphCell graph;      ///< set with graph_columns
  double percent = 0;   ///< percentage of the direct time of all rows
  double cumulative_percent = 0;
};

/// Key of the rows, most direct kernel time first, then by example_uid. Contains all rows, without
/// the limit of top_k_ops.
struct UniqueArgsKey {
  using Value = std::vector<UniqueArgsRow>;
  LaunchersKey launchers;
  std::optional<ParentModulesKey> modules; ///< absent: modules are not a key
  std::optional<GraphsKey> graphs;         ///< fill UniqueArgsRow::graph
  bool num_kernels = false;                ///< use the number of kernels of a call as a key
  bool by_overlap = false;                 ///< group also by the kernels that ran at the same time
  UniqueArgsKey() = default;
  UniqueArgsKey(const ReportOptions& o, bool overlap)
      : launchers(o), modules(modules_key(o)), graphs(graph_columns_key(o)),
        num_kernels(o.group_by_num_kernels), by_overlap(overlap) {}
  auto operator<=>(const UniqueArgsKey&) const = default;
};
[[nodiscard]] std::vector<UniqueArgsRow> compute(const LoadedTrace& trace,
                                                 const UniqueArgsKey& key);

[[nodiscard]] Schema<UniqueArgsRow> unique_args_schema(const ReportOptions& options,
                                                       bool by_overlap);

} // namespace rankscope
