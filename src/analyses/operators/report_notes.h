// What a reader of the report has to know before its numbers: how much of the kernel time they
// speak of, and which rates cannot be.
#pragma once

#include "analyses/analysis.h"

#include <string>
#include <string_view>

namespace rankscope {

/// The kernel time of unified_perf_summary, by what is known of it; nanoseconds, sums over the
/// calls.
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

/// Adds what is odd: kernels that the short-kernel study leaves out; one graph
/// launch or compiled region that holds most of the kernel time; rates above the board's peak
/// (without a board: above the highest built-in one). `report`: what was made; only its sheets are
/// judged. Gives the coverage of its unified_perf_summary, all 0 where it has none. Errors: those
/// of load_gpu_arch.
Result<ModelCoverage> add_report_notes(const LoadedTrace& trace, const ReportOptions& options,
                                       const Report& report, Diagnostics& diagnostics);

} // namespace rankscope
