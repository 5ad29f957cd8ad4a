// Assigns the slices of a track to lanes, so that the slices in each lane are nested.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace rankscope {

/// Assigns each slice to the first lane in which it nests. The time for n slices is O(n log n),
/// however many of them overlap.
class Lanes {
public:
  /// Returns the lane (0-based) for a slice; lanes below `from` are not used. Calls must be in
  /// ascending order of start; of slices with the same start, the longest must be first.
  std::size_t place(std::int64_t start, std::int64_t end, std::size_t from) {
    close_until(start);
    std::size_t lane = first_with_room(end, from);
    while (lane >= open_.size())
      add_lane();
    open_[lane].push_back(end);
    set_room(lane, end);
    ends_.emplace(end, lane);
    return lane;
  }

private:
  static constexpr std::int64_t kAnyEnd = std::numeric_limits<std::int64_t>::max();

  /// Closes the slices that end at `start` or before.
  void close_until(std::int64_t start) {
    for (; !ends_.empty() && ends_.top().first <= start; ends_.pop()) {
      const std::size_t lane = ends_.top().second;
      std::vector<std::int64_t>& stack = open_[lane];
      while (!stack.empty() && stack.back() <= start)
        stack.pop_back();
      set_room(lane, stack.empty() ? kAnyEnd : stack.back());
    }
  }

  /// Returns the first lane, not below `from`, whose innermost open slice does not end before
  /// `end`; if there is no such lane, a new one.
  [[nodiscard]] std::size_t first_with_room(std::int64_t end, std::size_t from) const {
    if (from >= open_.size())
      return from;
    std::size_t node = from + leaves_;
    while (room_[node] < end) { // go up, then to the next subtree on the right
      while (node % 2 == 1)
        node /= 2;
      if (node == 0)
        return open_.size();
      ++node;
    }
    while (node < leaves_)
      node = room_[2 * node] >= end ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

  void set_room(std::size_t lane, std::int64_t end) {
    std::size_t node = lane + leaves_;
    room_[node] = end;
    for (node /= 2; node > 0; node /= 2)
      room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
  }

  void add_lane() {
    open_.emplace_back();
    if (open_.size() > leaves_) {
      leaves_ *= 2;
      std::vector<std::int64_t> leaves(room_.begin() + static_cast<std::ptrdiff_t>(leaves_ / 2),
                                       room_.end());
      leaves.resize(leaves_, kNoLane);
      room_.assign(leaves_, kNoLane);
      room_.insert(room_.end(), leaves.begin(), leaves.end());
      for (std::size_t node = leaves_ - 1; node > 0; --node)
        room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
    }
    set_room(open_.size() - 1, kAnyEnd);
  }

  static constexpr std::int64_t kNoLane = std::numeric_limits<std::int64_t>::min();

  std::vector<std::vector<std::int64_t>>
      open_; ///< for each lane: ends of the open slices, innermost last
  /// A tree of maxima over the lanes; the value of a lane is the end of its innermost open slice.
  /// Node n has the children 2n and 2n + 1; lane l is the leaf leaves_ + l.
  std::vector<std::int64_t> room_{kNoLane, kNoLane};
  std::size_t leaves_ = 1;
  using End = std::pair<std::int64_t, std::size_t>; ///< end of an open slice, and its lane
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

} // namespace rankscope
