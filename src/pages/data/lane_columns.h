// The level of detail of a timeline: the content of each pixel column of a lane, and the events
// that are worth a place in the page. The page itself sums these columns to coarser ones.
#pragma once

#include "base/interval_set.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// The kind of work; exposed: no computation on the GPU overlaps it.
enum class LaneKind : std::uint8_t { kCompute, kExposedComm, kHiddenComm, kCopy };
inline constexpr std::size_t kLaneKinds = 4;

/// GPU work in a lane, by start. kExposedComm stands for communication, hidden or not.
struct LaneEvent {
  std::int64_t start_ns = 0, dur_ns = 0;
  LaneKind kind = LaneKind::kCompute;

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + dur_ns; }
};

inline constexpr std::uint32_t kNoLaneEvent = 0xffffffffU;

/// Columns of equal width from `start_ns` on.
struct LaneColumns {
  std::int64_t start_ns = 0, width_ns = 1;
  /// Nanoseconds of each column by kind. They do not overlap: an instant with several events counts
  /// as computation, else as communication, else as a copy.
  std::vector<std::array<std::int64_t, kLaneKinds>> ns;
  std::vector<std::uint32_t> longest; ///< longest event that touches it; the first of equals
  std::vector<std::uint32_t> begun;   ///< events that start in it
};

/// `computing`: when kernels compute on any stream of the rank. O(n log n + columns). All events
/// are in [start, end); columns >= 1.
[[nodiscard]] LaneColumns lane_columns(std::span<const LaneEvent> events,
                                       const IntervalSet& computing, Interval span,
                                       std::size_t columns);

/// Returns at most about `most` events, ascending: all if they are so few, else the longest of each
/// of `tiles` equal parts of the span (by start), so that every part has some. Of equals the first.
[[nodiscard]] std::vector<std::uint32_t> important_events(std::span<const LaneEvent> events,
                                                          Interval span, std::size_t most,
                                                          std::size_t tiles);

} // namespace rankscope
