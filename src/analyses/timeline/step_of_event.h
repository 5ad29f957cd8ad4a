// Which profiler step a GPU event belongs to: the one rule of everything that is told by step.
#pragma once

#include "analyses/analysis.h"
#include "core/steps.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// The step of a GPU event: that of the call that launched it, its own where none did; -1 = none,
/// also for work without a launch that the options leave out. `steps` by start.
[[nodiscard]] std::int64_t step_of_gpu_event(const LoadedTrace& trace,
                                             const std::vector<ProfilerStep>& steps, EventId event,
                                             bool unlinked);

} // namespace rankscope
