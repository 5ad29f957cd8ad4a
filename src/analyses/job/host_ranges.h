// The activity of a thread at a given time, from its recorded ranges: operators, annotations,
// Python frames.
#pragma once

#include "analyses/job/host_code.h"
#include "core/steps.h"
#include "core/trace.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// The ranges of some threads. The queries for a thread must be in the order of time. The
/// constructor takes O(n log n); all queries for a thread together visit its ranges once.
class HostRanges {
public:
  /// `tracks`: for each row of Trace::tracks, whether its ranges are needed. `steps`, `launches`:
  /// the steps, and the times of the calls that launch GPU work, ascending. Annotations around most
  /// launches of a step do not show what the host does, so they are ignored, except those of
  /// optimizers.
  HostRanges(const Trace& trace, const std::vector<bool>& tracks,
             std::span<const ProfilerStep> steps, std::span<const std::int64_t> launches);

  [[nodiscard]] bool has_python() const { return has_python_; }
  /// Returns the time that recording the Python frames of these threads may have taken, in percent
  /// of the threads' time. The time is the number of frames times the 5th percentile of the time
  /// from a frame's begin to the begin of the first frame in it. The call itself is included. 0
  /// without frames.
  [[nodiscard]] double frame_cost_percent() const;

  struct Stretch {
    /// The name of the range around at least half of the stretch that shows what the host does
    /// there, else the innermost such range; kEmptyStr: none covers half of it.
    StrId name = kEmptyStr;
    /// The outermost operators or annotations before and after the longest time without any.
    StrId before = kEmptyStr, after = kEmptyStr;
    std::uint32_t begun = 0; ///< number of ranges that begin in the stretch
  };
  /// Returns the stretch [from, to) of a thread.
  [[nodiscard]] Stretch stretch(std::uint32_t track, std::int64_t from, std::int64_t to);
  struct At {
    StrId op = kEmptyStr; ///< the innermost operator; kEmptyStr: no operator
    /// The outermost operator or annotation; inside an optimizer or a checkpoint, its range.
    StrId outermost = kEmptyStr;
    /// The begin of the operator `op`; inside an optimizer, of its range. The given time without
    /// an operator.
    std::int64_t begin_ns = 0;
  };
  /// Returns the ranges around a time on a thread.
  [[nodiscard]] At at(std::uint32_t track, std::int64_t time);

private:
  struct Thread {
    std::vector<EventId> ranges;           ///< ordered by start, parents before children
    std::size_t next = 0;                  ///< first range that begins after the last query
    std::vector<EventId> open;             ///< ranges around the last query's time, outermost first
    std::vector<EventId> operators;        ///< the ranges of `open` that are not Python frames
    std::int64_t first_end_ns = INT64_MAX; ///< first end of a range of `open`
    EventId last_outer = kNoEvent;         ///< value for Stretch::before
  };
  /// Returns whether an annotation is a ProfilerStep or encloses most launches of a step.
  [[nodiscard]] bool names_step(EventId annotation, std::span<const ProfilerStep> steps,
                                std::span<const std::int64_t> launches) const;
  void advance(Thread& thread, std::int64_t to);
  [[nodiscard]] HostCode code(EventId range);
  [[nodiscard]] bool is_optimizer(EventId range) const;
  /// Returns the operator or annotation around the last query's time: the optimizer's, else the
  /// outermost one.
  [[nodiscard]] EventId outermost(const Thread& thread) const;

  const Trace& trace_;
  std::vector<Thread> threads_;               ///< by track
  std::unordered_map<StrId, HostCode> codes_; ///< by the name of the range
  bool has_python_ = false;
};

} // namespace rankscope
