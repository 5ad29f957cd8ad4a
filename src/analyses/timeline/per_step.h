// The timeline and the operators of each profiler step: the facts behind gpu_timeline_per_step and
// ops_per_step. A step's GPU work is what its CPU calls launched.
#pragma once

#include "analyses/operators/ops_summary.h"
#include "analyses/timeline/gpu_timeline.h"

#include <vector>

namespace rankscope {

/// By start of the step; empty when the trace has no ProfilerStep#N. Made once per trace and
/// options, each in one pass over the trace; whatever per_step says.
[[nodiscard]] const std::vector<StepTimeline>& timeline_per_step_of(const LoadedTrace& trace,
                                                                    const ReportOptions& options);
[[nodiscard]] const std::vector<StepOps>& ops_per_step_of(const LoadedTrace& trace,
                                                          const ReportOptions& options);

/// The sheet gpu_timeline_per_step of these facts.
[[nodiscard]] Table timeline_per_step_table(const std::vector<StepTimeline>& steps,
                                            const ReportOptions& options);

} // namespace rankscope
