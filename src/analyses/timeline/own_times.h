// Own times: a step's time divided among its GPU events, so that each instant counts once.
#pragma once

#include "analyses/timeline/gpu_timeline.h"
#include "analyses/timeline/idle_causes.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// A GPU event and the part of the step's time that it gets.
struct SelfTime {
  EventId event = kNoEvent;
  std::uint32_t index = 0; ///< index in LauncherIndex::gpu
  TimelineBucket bucket = TimelineBucket::kCompute;
  std::int64_t ns = 0;         ///< 0 if events that take precedence overlap all of it
  std::vector<Interval> parts; ///< only for communication: `ns` as intervals, ns, ascending
};

/// A step, or the complete trace if it has no ProfilerStep#N, with its GPU events.
struct StepSelfTimes {
  std::int64_t step = 0;
  std::vector<SelfTime> events; ///< ordered by start, ties in file order
  /// Idle time by cause. The unknown part contains time in which only work of other steps runs.
  IdleByCause idle_ns{};
  /// total_time of gpu_timeline_per_step: the sum of all own times and of idle_ns.
  std::int64_t total_ns = 0;
};

struct SelfTimes {
  bool without_steps = false;       ///< the trace has no steps: one entry for the complete trace
  std::vector<StepSelfTimes> steps; ///< ordered by number; steps without GPU work, and steps
                                    ///< whose idle time before is unknown, are left out
};

/// Divides each step's time among its events. Each instant between the first and the last GPU event
/// is idle or belongs to one running event; the idle time before a step belongs to it too.
/// Computation takes precedence over communication, and communication over copies, as in the
/// exposed times of gpu_timeline. Within a kind, the event that began first takes precedence. So
/// the sums of own times by kind equal computation_time, exposed_comm_time and exposed_memcpy_time
/// of gpu_timeline_per_step. Example: computation 0-10, a second kernel 4-12, a collective 8-20:
/// own times 10, 2 and 8. Does not separate recomputed work. O(n log n).
[[nodiscard]] SelfTimes self_times_of(const LoadedTrace& trace, const TimelineKey& key);

} // namespace rankscope
