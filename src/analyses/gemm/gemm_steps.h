// The GEMM steps on earlier outputs: variance from a report's GEMM sheet, timestamps from a trace
// for the rows of a variance table, overlap from a collective report (docs/reference/sweep-files.md
// 1, 3 and 4).
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "core/report.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the k rows of a report's GEMM sheet with the largest range and the columns of
/// reported_gemm_schema(), found by name. kernel_name is the kernel with most time. Empty if the
/// report has no usable GEMM sheet.
[[nodiscard]] std::optional<GemmFacts> variance_of_report(const Report& report, const RunKey& key,
                                                          std::size_t top_k);

/// Returns the kernel with most time in the text of a kernel_details list: the last name, as the
/// lists ascend by time. Accepts both kinds of Python quotes. Returns "" without a name.
[[nodiscard]] std::string dominant_kernel(std::string_view details);

/// What the timestamps step adds to one row.
struct FoundInstances {
  bool found = false;
  std::int64_t min_start_ns = 0, max_start_ns = 0, trace_start_ns = 0;
  double min_us = 0, max_us = 0;
};

/// The instances behind row `row` of a variance table: of the calls with its operator, shapes and
/// strides (where the table has them), else of those with its kernel, the group whose extremes are
/// nearest to the row's.
[[nodiscard]] FoundInstances find_instances(const Table& variance, std::size_t row,
                                            const RankGemms& gemms);

/// `variance` with the documented columns of the timestamps step, and verified columns: pass when
/// the duration found is within `tolerance` (a share) of the expected one.
[[nodiscard]] Table with_timestamps(const Table& variance, const std::vector<FoundInstances>& found,
                                    double tolerance);

/// `timestamps` with the documented columns of the overlap step. `collectives` is nccl_long per row
/// (null: overlap_evaluated is false and the rest blank).
[[nodiscard]] Table with_overlap(const Table& timestamps,
                                 const std::vector<const Table*>& collectives);

} // namespace rankscope
