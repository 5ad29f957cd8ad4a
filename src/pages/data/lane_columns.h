// The level of detail of a timeline: the content of each pixel column of a lane, and the events
// that are important enough for the page. The page sums these columns to coarser ones.
#pragma once

#include "base/interval_set.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// The kind of work. Exposed: no GPU computation overlaps it.
enum class LaneKind : std::uint8_t { kCompute, kExposedComm, kHiddenComm, kCopy };
inline constexpr std::size_t kLaneKinds = 4;

/// GPU work in a lane. kExposedComm here means all communication, exposed or hidden.
struct LaneEvent {
  std::int64_t start_ns = 0, dur_ns = 0;
  LaneKind kind = LaneKind::kCompute;

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + dur_ns; }
};

inline constexpr std::uint32_t kNoLaneEvent = 0xffffffffU;

/// Columns of equal width, from `start_ns` on.
struct LaneColumns {
  std::int64_t start_ns = 0, width_ns = 1;
  /// Nanoseconds per column and kind. They do not overlap: if several events run at an instant, it
  /// counts as computation, else as communication, else as a copy.
  std::vector<std::array<std::int64_t, kLaneKinds>> ns;
  std::vector<std::uint32_t> longest; ///< longest event in the column; the first of equals
  std::vector<std::uint32_t> begun;   ///< number of events that start in the column
};

/// Returns the columns of a lane. `computing`: times in which any stream of the rank computes.
/// Cost: O(n log n + columns). All events must be in [start, end); columns >= 1.
[[nodiscard]] LaneColumns lane_columns(std::span<const LaneEvent> events,
                                       const IntervalSet& computing, Interval span,
                                       std::size_t columns);

/// Returns about `most` important events at most, in ascending order. If there are more events, it
/// selects the longest of each of `tiles` equal parts of the span (by start), so that every part
/// has some. Among equal events, it selects the first.
[[nodiscard]] std::vector<std::uint32_t> important_events(std::span<const LaneEvent> events,
                                                          Interval span, std::size_t most,
                                                          std::size_t tiles);

} // namespace rankscope
