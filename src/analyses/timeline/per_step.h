// The timeline and the operators of each profiler step: the facts behind gpu_timeline_per_step and
// ops_per_step. A step's GPU work is the work that its CPU calls launched.
#pragma once

#include "analyses/operators/ops_summary.h"
#include "analyses/timeline/gpu_timeline.h"

#include <vector>

namespace rankscope {

/// Returns these facts as the sheet gpu_timeline_per_step.
[[nodiscard]] Table timeline_per_step_table(const std::vector<StepTimeline>& steps,
                                            const TimelineKey& key);

} // namespace rankscope
