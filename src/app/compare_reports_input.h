// Reports as input of a comparison: workbooks and CSV folders of rankscope and of TraceLens. The
// only place of the comparison that reads cells by their printed headers.
#pragma once

#include "analyses/compare/compared_run.h"
#include "core/report.h"

#include <optional>

namespace rankscope {

/// Sheets gpu_timeline and, when there, gpu_timeline_per_step of one rank's report. Rows of kinds
/// that rankscope does not know are left out; of two rows of a kind the first counts. None without
/// a usable gpu_timeline.
[[nodiscard]] std::optional<RankTimeline> timeline_of_report(const Report& report);

/// Operators with their direct kernel time, of the sheet ops_summary where there.
[[nodiscard]] OperatorTimes operators_of_report(const Report& report);

/// Reads the sheets nccl_summary_implicit_sync, nccl_summary_long, nccl_implicit_sync and
/// nccl_long, if present. Converts bandwidths to 10^9 bytes/s: other tools write 1024^3 bytes/s
/// under the same header, so sizes and latencies have to show the unit. If they do not, bandwidths
/// are left out, with a warning about `label`.
[[nodiscard]] RunCollectives collectives_of_report(const Report& report, const std::string& label,
                                                   Diagnostics& diagnostics);

} // namespace rankscope
