// Same-stream overlaps: kernels that end after the next kernel on their stream starts. PDL on
// NVIDIA and timestamp jitter on ROCm cause small overlaps; wrong durations cause absurdly long
// overlaps.
#pragma once

#include "core/trace.h"

namespace rankscope {

struct StreamOverlaps {
  std::uint64_t count = 0;   ///< GPU events that end after the next event on their stream starts
  std::uint64_t absurd = 0;  ///< overlaps longer than 100 us and longer than half of the event
  std::int64_t total_ns = 0; ///< sum of the overlaps
  std::int64_t longest_ns = 0;
  EventId longest = kNoEvent;
};

/// Finds the overlaps. Each track (pid, tid) counts as a stream. O(n log n).
[[nodiscard]] StreamOverlaps find_stream_overlaps(const Trace& trace);

/// Shortens each overlapping event to end where the next event starts. Returns the overlaps found
/// before the change.
StreamOverlaps clip_stream_overlaps(Trace& trace);

} // namespace rankscope
