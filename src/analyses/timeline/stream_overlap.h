// Same-stream overlaps: a kernel that runs into the next one on its stream. PDL on NVIDIA and
// time-stamp jitter on ROCm make small ones; bogus durations make absurd ones.
#pragma once

#include "core/trace.h"

namespace rankscope {

struct StreamOverlaps {
  std::uint64_t count = 0;   ///< GPU events that end after the next one on their stream starts
  std::uint64_t absurd = 0;  ///< of these, by more than 100 us and more than half of themselves
  std::int64_t total_ns = 0; ///< sum of the overlaps
  std::int64_t longest_ns = 0;
  EventId longest = kNoEvent;
};

/// Each track (pid, tid) is a stream. O(n log n).
[[nodiscard]] StreamOverlaps find_stream_overlaps(const Trace& trace);

/// Ends each such event where the next one starts. Returns the overlaps found before.
StreamOverlaps clip_stream_overlaps(Trace& trace);

} // namespace rankscope
