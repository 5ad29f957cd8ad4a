// Kernel time by operator and arguments: the facts behind ops_unique_args and
// ops_unique_args_kl_overlap.
#pragma once

#include "analyses/analysis.h"
#include "analyses/graph/graph_attribution.h"
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/op_key.h"

#include <vector>

namespace rankscope {

/// All launchers with one key. Views live as long as the trace.
struct UniqueArgsRow {
  OpLabels op;
  std::uint32_t num_kernels = 0; ///< of a call; 0 unless the options make it a key
  bool recompute = false;
  std::size_t count = 0;
  std::int64_t first_ns = 0; ///< start of the first call, since the first of all launchers
  double direct_ns = 0;      ///< sum of the direct times of the calls
  Stats direct_us;           ///< over the calls: union of the kernels that a call launched itself
  Stats subtree_us;          ///< of all GPU work below it, communication included
  std::uint32_t example_uid = 0;         ///< of the first call
  std::string parent_module, call_stack; ///< of the first call; where the module is a key
  KernelDetails details;
  OverlapCells overlap; ///< with `by_overlap`
  GraphCell graph;      ///< with graph_columns
  double percent = 0;   ///< of the direct time of all rows
  double cumulative_percent = 0;
};

/// Most direct kernel time first, then by example_uid. `by_overlap`: grouped also by the kernels
/// that ran at the same time. All rows, whatever top_k_ops says; made once per trace and options.
[[nodiscard]] const std::vector<UniqueArgsRow>&
unique_args_of(const LoadedTrace& trace, const ReportOptions& options, bool by_overlap);

[[nodiscard]] Schema<UniqueArgsRow> unique_args_schema(const ReportOptions& options,
                                                       bool by_overlap);

} // namespace rankscope
