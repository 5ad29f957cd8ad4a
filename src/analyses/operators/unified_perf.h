// Every operator that accounts for GPU work, once, with its cost if a model knows it: the facts
// behind unified_perf_summary and unified_perf_summary_kl_overlap.
#pragma once

#include "analyses/analysis.h"
#include "analyses/graph/graph_attribution.h"
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/kernel_overlap.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "model/gpu_arch.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// All calls with one key. Views live as long as the trace.
struct UnifiedRow {
  OpLabels op; ///< for kernels that no operator covers, the name is a kernel_row_name()
  std::uint32_t num_kernels = 0; ///< kernels of a call; 0 unless the options make it a key
  bool recompute = false;
  std::uint32_t example_uid = 0; ///< uid of the first call
  std::size_t count = 0;
  Stats cpu_us;         ///< CPU time of the calls
  double kernel_ns = 0; ///< sum of the kernel times of the calls
  Stats kernel_us;      ///< time of the union of a call's kernels
  Stats tbps, tflops;
  TimedWork timed_flops, timed_bytes;      ///< sums over the calls
  double flops = 0, bytes = 0;             ///< cost of the first call; NaN = unknown
  std::optional<std::string> compute_spec; ///< empty without a cost
  std::optional<Roofline> roofline;
  KernelDetails details;
  OverlapCells overlap; ///< in UnifiedPerf::by_overlap
  std::string params;   ///< Python dict of the model's parameters; "" = no cost
  bool has_model = false;
  std::string entry_point, call_stack; ///< set with include_call_stack; "" without frames
  GraphCell graph;                     ///< set with graph_columns
  double percent = 0;                  ///< percentage of the kernel time of all rows
  double cumulative_percent = 0;
};

/// The rows of both sheets, most kernel time first, then by example_uid.
struct UnifiedPerf {
  std::vector<UnifiedRow> rows;
  /// Rows that are also grouped by overlapping kernels; filled with include_overlap_info.
  std::vector<UnifiedRow> by_overlap;
  /// Sum of the durations of the GPU work that is in no row because its launch is not in the trace,
  /// except communication. With the rows, it is the GPU time without communication, the base of
  /// shares in coverage lines, badges and findings.
  std::int64_t unlinked_ns = 0;
};

/// Key of both sheets. Errors: those of load_gpu_arch.
struct UnifiedPerfKey {
  using Value = Result<UnifiedPerf>;
  LaunchersKey launchers;
  std::optional<GraphsKey> graphs; ///< fill UnifiedRow::graph
  bool inference = false;          ///< follow the reference's inference report (with compat)
  bool num_kernels = false;        ///< use the number of kernels of a call as a key
  bool overlap = false;            ///< fill by_overlap
  bool call_stack = false;
  std::string gpu_arch; ///< file or built-in name; "" = no rooflines
  UnifiedPerfKey() = default;
  UnifiedPerfKey(const ReportOptions& o)
      : launchers(o), graphs(graph_columns_key(o)), inference(o.compat_inference),
        num_kernels(o.group_by_num_kernels), overlap(o.include_overlap_info),
        call_stack(o.include_call_stack), gpu_arch(o.gpu_arch) {}
  auto operator<=>(const UnifiedPerfKey&) const = default;
};
[[nodiscard]] Result<UnifiedPerf> compute(const LoadedTrace& trace, const UnifiedPerfKey& key);

[[nodiscard]] Schema<UnifiedRow> unified_perf_schema(const ReportOptions& options, bool by_overlap);

/// Copies a row's category to each launcher below the row's operator, so that all tables show the
/// same category for a kernel. Sometimes only the operator above the launcher shows that a kernel
/// is attention. The reference does not do this.
void take_row_categories(const LoadedTrace& trace, LauncherIndex& index);

} // namespace rankscope
