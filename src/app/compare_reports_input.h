// Reads reports as input of a comparison: workbooks and CSV folders of rankscope and of TraceLens.
// In a comparison, only this file reads cells by their printed headers.
#pragma once

#include "analyses/compare/compared_run.h"
#include "core/report.h"

#include <optional>

namespace rankscope {

/// Reads the sheet gpu_timeline and, if present, gpu_timeline_per_step of one rank's report. Rows
/// with kinds that rankscope does not know are left out. If two rows have the same kind, the first
/// counts. Returns nullopt without a usable gpu_timeline.
[[nodiscard]] std::optional<RankTimeline> timeline_of_report(const Report& report);

/// Returns the operators with their direct kernel time, from the sheet ops_summary if present.
[[nodiscard]] OperatorTimes operators_of_report(const Report& report);

/// Reads the sheets nccl_summary_implicit_sync, nccl_summary_long, nccl_implicit_sync and
/// nccl_long, if present. Converts bandwidths to 10^9 bytes/s: other tools write 1024^3 bytes/s
/// under the same header, so the unit is found from sizes and latencies. If they do not show it,
/// bandwidths are left out, with a warning about `label`.
[[nodiscard]] RunCollectives collectives_of_report(const Report& report, const std::string& label,
                                                   Diagnostics& diagnostics);

} // namespace rankscope
