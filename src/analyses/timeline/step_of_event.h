// Finds the profiler step of a GPU event: the single rule for all per-step results.
#pragma once

#include "analyses/analysis.h"
#include "core/steps.h"

#include <cstdint>
#include <set>
#include <vector>

namespace rankscope {

/// Returns the step in which the GPU event was launched or, without a launch, in which it starts;
/// -1 if there is no such step. Also -1 for events without a launch if `unlinked` is false. `steps`
/// must be ordered by start.
[[nodiscard]] std::int64_t step_of_gpu_event(const LoadedTrace& trace,
                                             const std::vector<ProfilerStep>& steps, EventId event,
                                             bool unlinked);

/// Returns the numbers of the steps.
[[nodiscard]] std::set<std::int64_t> step_numbers(const std::vector<ProfilerStep>& steps);

} // namespace rankscope
