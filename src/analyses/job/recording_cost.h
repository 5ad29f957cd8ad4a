// The host time that the profiler adds, derived from the time of a step without the profiler.
#pragma once

#include "analyses/job/job_run.h"

#include <optional>

namespace rankscope {

/// The cost of recording. It lengthens the host's work for each launch, but hardly the GPU's work.
struct RecordingCost {
  double recorded_ms = 0; ///< recorded time of a step
  double step_ms = 0;     ///< time of a step after the subtraction, close to the requested time
  double each_us = 0;     ///< time subtracted for each recorded range and call
};

/// Subtracts the same host time for every recorded range and call (RankNode::recorded), so that a
/// step takes `step_ms`. At most nine tenths of an activity are subtracted. Changes nothing and
/// returns nullopt in three cases: steps are recorded one by one; a step is at most 3 % longer than
/// `step_ms`; or a step still takes longer after the largest subtraction. About twenty replays.
[[nodiscard]] std::optional<RecordingCost> without_recording(JobRun& run, double step_ms);

} // namespace rankscope
