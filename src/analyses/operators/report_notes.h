// Notes to read before the numbers of a report: how much of the kernel time they cover, and which
// rates are impossible.
#pragma once

#include "analyses/analysis.h"

#include <string>
#include <string_view>

namespace rankscope {

/// The kernel time of unified_perf_summary, with and without a model; ns, sums over the calls.
struct ModelCoverage {
  double total_ns = 0;
  double modelled_ns = 0;        ///< of operators with a model
  double no_model_ns = 0;        ///< of operators without one
  double no_operator_ns = 0;     ///< no operator above the launch
  double graph_ns = 0;           ///< of those: launched by a graph
  std::string_view largest_name; ///< the row with most time among those without a model
  double largest_ns = 0;
};
/// Errors: those of load_gpu_arch.
[[nodiscard]] Result<ModelCoverage> model_coverage(const LoadedTrace& trace,
                                                   const ReportOptions& options);

/// One line: shares of the kernel time with a model, without one, without an operator; "" without
/// kernel time.
[[nodiscard]] std::string coverage_line(const ModelCoverage& coverage);

/// Adds notes to `diagnostics`: kernels missing in the short-kernel study; one graph launch or
/// compiled region with most of the kernel time; rates above the GPU's peak (without a GPU: above
/// the highest built-in peak). Checks only the sheets in `report`. Returns the coverage of its
/// unified_perf_summary, all 0 without that sheet. Errors: those of load_gpu_arch.
Result<ModelCoverage> add_report_notes(const LoadedTrace& trace, const ReportOptions& options,
                                       const Report& report, Diagnostics& diagnostics);

} // namespace rankscope
