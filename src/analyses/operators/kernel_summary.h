// Kernels by operator, name and stream, and the study of short kernels: the facts behind
// kernel_summary, short_kernel_histogram and short_kernels_summary.
#pragma once

#include "analyses/operators/launchers.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// All launches of a kernel from one operator on one stream. Views live as long as the trace.
struct KernelRow {
  std::string_view category; ///< category of the operator; static text
  std::string_view op;       ///< nearest operator above the launch, else the launching call
  std::string_view kernel;
  std::int32_t stream = -1; ///< -1 = not recorded
  bool linked = true;       ///< false: no launch in the trace, so the operator is unknown
  std::int64_t sum_ns = 0, count = 0, min_ns = 0, max_ns = 0;
  /// Percentage of the total time of all kernels; NaN if that time is 0.
  double percent_of_kernels = 0;
  double percent_of_total = 0; ///< percentage of total_time in gpu_timeline; NaN if that time is 0
};

/// Launches of a kernel that are shorter than the threshold, by operator and arguments.
struct ShortKernelRow {
  std::string_view op;
  std::string dims, strides, concrete; ///< Python tuples
  std::string_view kernel;
  std::int64_t sum_ns = 0, count = 0;
  double percent_of_total = 0; ///< percentage of total_time in gpu_timeline; NaN if that time is 0
};

/// Number of short-kernel launches with start <= duration < end; the last bin includes its end.
struct HistogramBin {
  double start_us = 0, end_us = 0;
  std::int64_t count = 0;
};

/// Key of the kernel rows, longest sum first. Contains all rows, without the limit of top_k.
struct KernelRowsKey {
  using Value = std::vector<KernelRow>;
  LaunchersKey launchers;
  auto operator<=>(const KernelRowsKey&) const = default;
};
[[nodiscard]] std::vector<KernelRow> compute(const LoadedTrace& trace, const KernelRowsKey& key);

/// Returns the columns; if `operators` is false (a trace without operators), there are no operator
/// columns.
[[nodiscard]] Schema<KernelRow> kernel_summary_schema(bool operators);
[[nodiscard]] Schema<ShortKernelRow> short_kernels_schema(bool operators);
[[nodiscard]] Schema<HistogramBin> short_kernel_histogram_schema();

} // namespace rankscope
