// Own times: how a step's time divides among its GPU events, each instant counted once.
#pragma once

#include "analyses/timeline/gpu_timeline.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// A GPU event and its part of the step's time.
struct OwnTime {
  EventId event = kNoEvent;
  std::uint32_t index = 0; ///< in LauncherIndex::gpu
  TimelineBucket bucket = TimelineBucket::kCompute;
  std::int64_t ns = 0; ///< 0 when events that take precedence overlap all of it
};

/// A step, or the complete trace if it has no ProfilerStep#N, with its GPU events.
struct StepOwnTimes {
  std::int64_t step = 0;
  std::vector<OwnTime> events; ///< by start, ties in file order
  std::int64_t idle_ns = 0;
  std::int64_t total_ns = 0; ///< total_time of gpu_timeline_per_step: all own times and idle_ns
};

struct OwnTimes {
  bool whole = false;              ///< the trace has no steps: one entry for all of it
  std::vector<StepOwnTimes> steps; ///< by number; steps without GPU work are left out
};

/// Each instant between the first and the last GPU event of a step is idle or belongs to one event
/// that runs. Computation takes precedence over communication, and communication over copies (as in
/// the exposed times of gpu_timeline); within a kind, the event that began first. So the sum of own
/// times by kind is computation_time, exposed_comm_time and exposed_memcpy_time of
/// gpu_timeline_per_step. Example: computation 0-10, a second kernel 4-12, a collective 8-20: 10, 2
/// and 8. Does not separate recomputed work. O(n log n).
[[nodiscard]] OwnTimes own_times_of(const LoadedTrace& trace, const TimelineKey& key);

} // namespace rankscope
