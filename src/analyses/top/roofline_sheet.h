// The roofline of a report's workbook: operators by FLOPs per byte and rate, with the GPU's peaks
// and a chart of both.
#pragma once

#include "analyses/analysis.h"
#include "core/schema.h"

#include <optional>
#include <string>

namespace rankscope {

/// An operator, or a corner of a peak line.
struct RooflinePoint {
  std::string part; ///< "operator" or "peak"
  std::string what; ///< the operator, or the limit of the GPU
  double flops_per_byte = 0;
  double tflops = 0;             ///< 10^12 FLOPs per second: mean over the calls, or the peak
  std::optional<double> percent; ///< operators only: percentage of the kernel time of all operators
  std::string spec;              ///< compute unit of the GPU with data type, such as "matrix_bf16"
};
[[nodiscard]] Schema<RooflinePoint> roofline_sheet_schema();

/// Returns the operators with the most kernel time (50 at most) that have known FLOPs, bytes and
/// time and a spec with a peak. After them, three corners per spec: the rate that the memory
/// bandwidth allows at the lowest intensity, the ridge (peak / bandwidth), the peak at the largest
/// intensity. Example: 708 TFLOPS/s and 5300 GB/s: ridge at 708000 / 5300 = 133.6 FLOPs per byte.
/// nullopt without a GPU or such an operator. Errors: those of load_gpu_arch.
[[nodiscard]] Result<std::optional<Table>> roofline_sheet(const LoadedTrace& trace,
                                                          const ReportOptions& options);

} // namespace rankscope
