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

/// Sheets nccl_summary_implicit_sync, nccl_summary_long and nccl_implicit_sync, where there.
[[nodiscard]] RunCollectives collectives_of_report(const Report& report);

} // namespace rankscope
