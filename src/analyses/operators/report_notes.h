// Notes to read before the numbers of a report: the share of the GPU time that they cover, and
// impossible rates.
#pragma once

#include "analyses/analysis.h"

#include <string>
#include <string_view>

namespace rankscope {

/// The GPU time without communication, with and without a model; ns, sums over the calls.
struct ModelCoverage {
  double total_ns = 0;           ///< rows of unified_perf_summary and UnifiedPerf::unlinked_ns
  double modelled_ns = 0;        ///< time of operators with a model
  double no_model_ns = 0;        ///< time of operators without a model
  double no_operator_ns = 0;     ///< time of GPU work without a launch or an operator above it
  double graph_ns = 0;           ///< part of no_operator_ns that a graph launched
  std::string_view largest_name; ///< name of the row without a model that has the most time
  double largest_ns = 0;
};
/// Returns the sums for a trace. Errors: those of load_gpu_arch.
[[nodiscard]] Result<ModelCoverage> model_coverage(const LoadedTrace& trace,
                                                   const ReportOptions& options);

/// Returns one line with the shares of GPU time with a model, without a model and without an
/// operator; "" without GPU time.
[[nodiscard]] std::string coverage_line(const ModelCoverage& coverage);

/// Adds notes to `diagnostics`: no CPU operators; kernels missing in the short-kernel study; most
/// GPU time without an operator or in one row without a model (such as a compiled region); rates
/// above the GPU's peak. Without a GPU, the limit is the highest built-in peak. Checks only the
/// sheets in `report`. Returns the coverage of its unified_perf_summary, all 0 without that sheet.
/// Errors: those of load_gpu_arch.
Result<ModelCoverage> add_report_notes(const LoadedTrace& trace, const ReportOptions& options,
                                       const Report& report, Diagnostics& diagnostics);

} // namespace rankscope
