// The roofline of a report's workbook: operators by FLOPs per byte and rate below the peaks of the
// board, with a chart of both.
#pragma once

#include "analyses/analysis.h"
#include "core/schema.h"

#include <optional>
#include <string>

namespace rankscope {

/// An operator, or a corner of the line of a peak.
struct RooflinePoint {
  std::string part; ///< "operator" or "peak"
  std::string what; ///< the operator, or what of the board is the limit
  double flops_per_byte = 0;
  double tflops = 0;             ///< 10^12 FLOPs a second: mean over the calls, or the peak
  std::optional<double> percent; ///< operators: of the kernel time of all
  std::string spec;              ///< unit of the board that computes, "matrix_bf16"
};
[[nodiscard]] Schema<RooflinePoint> roofline_sheet_schema();

/// The operators with most kernel time (50 at most) whose FLOPs, bytes and time are known and whose
/// spec has a peak, then for each spec three corners: the rate that the memory bandwidth allows at
/// the least intensity, the ridge (peak / bandwidth), the peak at the largest. Example: 708
/// TFLOPS/s and 5300 GB/s: ridge at 708000 / 5300 = 133.6 FLOPs a byte. None without a board or
/// such an operator. Errors: those of load_gpu_arch.
[[nodiscard]] Result<std::optional<Table>> roofline_sheet(const LoadedTrace& trace,
                                                          const ReportOptions& options);

} // namespace rankscope
