// What the profiler adds to the host's time, from the time of a step without it.
#pragma once

#include "analyses/job/job_run.h"

#include <optional>

namespace rankscope {

/// Recording lengthens what the host does for each launch, and the GPU's work hardly at all.
struct RecordingCost {
  double recorded_ms = 0; ///< time of a step as recorded
  double step_ms = 0;     ///< and after it was taken off: close to what was asked for
  double each_us = 0;     ///< taken off for each range and call that was recorded
};

/// Takes the same time off the host for every range and call that was recorded
/// (RankNode::recorded), at most nine tenths of an activity, so that a step takes `step_ms`.
/// Nothing is changed, and nullopt returned, where steps are recorded one by one, a step takes no 3
/// % longer than that, or one without the host's time still takes longer. Some twenty replays.
[[nodiscard]] std::optional<RecordingCost> without_recording(JobRun& run, double step_ms);

} // namespace rankscope
