// Set operations on half-open time intervals [start, end). Times are integer nanoseconds, or
// doubles of microseconds where sums must be rounded as in another tool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

template <class T> struct BasicInterval {
  T start = 0;
  T end = 0; ///< >= start
  friend bool operator==(const BasicInterval&, const BasicInterval&) = default;
};

/// A sorted list of disjoint intervals. Touching intervals are joined
/// (docs/reference/report-rules.md 1). Zero-length intervals contain no time and are dropped.
template <class T> class BasicIntervalSet {
public:
  using Interval = BasicInterval<T>;
  BasicIntervalSet() = default;
  /// Accepts intervals in any order, also overlapping ones. O(n log n), O(n) when sorted by start.
  explicit BasicIntervalSet(std::vector<Interval> intervals);

  [[nodiscard]] T length() const; ///< time that the set covers
  [[nodiscard]] std::span<const Interval> intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] BasicIntervalSet minus(const BasicIntervalSet& other) const;
  [[nodiscard]] BasicIntervalSet intersect(const BasicIntervalSet& other) const;
  [[nodiscard]] BasicIntervalSet unite(const BasicIntervalSet& other) const;
  /// Returns the time within [start, end) that the set covers. O(log n + k) for k intervals in it.
  [[nodiscard]] T covered(T start, T end) const;

private:
  std::vector<Interval> intervals_;
};

using Interval = BasicInterval<std::int64_t>; ///< ns
using IntervalSet = BasicIntervalSet<std::int64_t>;
using UsInterval = BasicInterval<double>; ///< us
using UsIntervalSet = BasicIntervalSet<double>;

extern template class BasicIntervalSet<std::int64_t>;
extern template class BasicIntervalSet<double>;

} // namespace rankscope
