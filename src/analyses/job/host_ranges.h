// What a thread was doing at a time, from the ranges that a trace records of it: operators,
// annotations, Python frames.
#pragma once

#include "core/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The ranges of some threads. Queries of a thread come in the order of time. O(n log n) to make;
/// all queries of a thread together pass its ranges once.
class HostRanges {
public:
  /// `tracks`: by row of Trace::tracks, whether its ranges are wanted.
  HostRanges(const Trace& trace, const std::vector<bool>& tracks);

  [[nodiscard]] bool has_python() const { return has_python_; }
  /// The time that recording may have taken of the Python frames of these threads: their number
  /// times the 5th percentile of the time from a frame's begin to that of the first frame in it.
  /// The call itself is included. Percent of the threads' time; 0 without frames.
  [[nodiscard]] double frame_cost_percent() const;

  struct Stretch {
    std::string_view name; ///< the innermost range that covers at least half; empty: none
    /// The outermost operators or annotations around the longest time without any.
    std::string_view before, after;
    std::uint32_t begun = 0; ///< ranges that begin in it
  };
  /// Of [from, to) on a thread. ProfilerStep ranges do not count.
  [[nodiscard]] Stretch stretch(std::uint32_t track, std::int64_t from, std::int64_t to);
  struct At {
    std::string_view op;        ///< the innermost operator; empty: none
    std::string_view outermost; ///< operator or annotation
  };
  /// Around a time on a thread.
  [[nodiscard]] At at(std::uint32_t track, std::int64_t time);

private:
  struct Thread {
    std::vector<EventId> ranges;    ///< by start, parents before children
    std::size_t next = 0;           ///< the first that begins later than the last query
    std::vector<EventId> open;      ///< around the last query's time, outermost first
    std::vector<EventId> operators; ///< of `open`, without Python frames
    EventId last_outer = kNoEvent;  ///< Stretch::before
  };
  void advance(Thread& thread, std::int64_t to);

  const Trace& trace_;
  std::vector<Thread> threads_; ///< by track
  bool has_python_ = false;
};

} // namespace rankscope
