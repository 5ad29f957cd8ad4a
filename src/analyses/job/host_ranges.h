// The activity of a thread at a given time, from its recorded ranges: operators, annotations,
// Python frames.
#pragma once

#include "core/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The ranges of some threads. The queries for a thread must be in the order of time. The
/// constructor takes O(n log n); all queries for a thread together visit its ranges once.
class HostRanges {
public:
  /// `tracks`: for each row of Trace::tracks, whether its ranges are needed.
  HostRanges(const Trace& trace, const std::vector<bool>& tracks);

  [[nodiscard]] bool has_python() const { return has_python_; }
  /// Returns the time that recording the Python frames of these threads may have taken, in percent
  /// of the threads' time. The time is the number of frames times the 5th percentile of the time
  /// from a frame's begin to the begin of the first frame in it. The call itself is included. 0
  /// without frames.
  [[nodiscard]] double frame_cost_percent() const;

  struct Stretch {
    /// The innermost range that covers at least half of the stretch; empty: none does.
    std::string_view name;
    /// The outermost operators or annotations before and after the longest time without any.
    std::string_view before, after;
    std::uint32_t begun = 0; ///< number of ranges that begin in the stretch
  };
  /// Returns the stretch [from, to) of a thread. ProfilerStep ranges are ignored.
  [[nodiscard]] Stretch stretch(std::uint32_t track, std::int64_t from, std::int64_t to);
  struct At {
    std::string_view op;        ///< the innermost operator; empty: no operator
    std::string_view outermost; ///< the outermost operator or annotation
  };
  /// Returns the ranges around a time on a thread.
  [[nodiscard]] At at(std::uint32_t track, std::int64_t time);

private:
  struct Thread {
    std::vector<EventId> ranges;    ///< ordered by start, parents before children
    std::size_t next = 0;           ///< first range that begins after the last query
    std::vector<EventId> open;      ///< ranges around the last query's time, outermost first
    std::vector<EventId> operators; ///< the ranges of `open` that are not Python frames
    EventId last_outer = kNoEvent;  ///< value for Stretch::before
  };
  void advance(Thread& thread, std::int64_t to);

  const Trace& trace_;
  std::vector<Thread> threads_; ///< by track
  bool has_python_ = false;
};

} // namespace rankscope
