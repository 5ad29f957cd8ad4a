// The GEMM steps that read earlier outputs (docs/reference/sweep-files.md 1, 3 and 4): variance
// from a report's GEMM sheet, timestamps from a trace for the rows of a variance table, and overlap
// from a collective report.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "core/report.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the k rows of a report's GEMM sheet with the largest range, with the columns of
/// reported_gemm_schema() found by name. kernel_name is the kernel with the most time. Empty if the
/// report has no usable GEMM sheet.
[[nodiscard]] std::optional<GemmFacts> variance_of_report(const Report& report, const RunKey& key,
                                                          std::size_t top_k);

/// Returns the kernel with the largest sum of total_duration_us in a kernel_details list; the
/// last one if several are equal or the list has no such numbers. Accepts both kinds of Python
/// quotes. Returns "" if no name is found.
[[nodiscard]] std::string dominant_kernel(std::string_view details);

/// The values that the timestamps step adds to one row.
struct FoundInstances {
  bool found = false;
  std::int64_t min_start_ns = 0, max_start_ns = 0, trace_start_ns = 0;
  double min_us = 0, max_us = 0;
  std::string max_busy; ///< busy_text() of the longest instance
};

/// Returns the shortest and the longest instance for row `row` of a variance table. Searches the
/// groups with the row's operator, shapes and strides (if the table has them), else the groups with
/// the row's kernel. Among the extremes of these groups, the ones nearest to the row's extremes are
/// used, because a row of a report joins the streams and the scalar arguments of its operator.
[[nodiscard]] FoundInstances find_instances(const Table& variance, std::size_t row,
                                            const RankGemms& gemms);

/// Returns `variance` with the documented columns of the timestamps step and two verification
/// columns. A duration passes if it is within `tolerance` (a fraction) of the expected one.
[[nodiscard]] Table with_timestamps(const Table& variance, const std::vector<FoundInstances>& found,
                                    double tolerance);

/// Returns `timestamps` with the documented columns of the overlap step. `collectives`: the
/// nccl_long table for each row. If it is null, overlap_evaluated is false and the other columns
/// are blank.
[[nodiscard]] Table with_overlap(const Table& timestamps,
                                 const std::vector<const Table*>& collectives);

} // namespace rankscope
