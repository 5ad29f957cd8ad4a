// Algebra on half-open time intervals [start, end) in nanoseconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

struct Interval {
  std::int64_t start = 0; ///< ns
  std::int64_t end = 0;   ///< ns, >= start
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A sorted list of disjoint intervals; touching ones are joined, as docs/reference/report-rules.md
/// 1 asks. Zero-length intervals carry no time and are dropped.
class IntervalSet {
public:
  IntervalSet() = default;
  /// Any order, overlaps allowed. O(n log n), O(n) when already sorted by start.
  explicit IntervalSet(std::vector<Interval> intervals);

  [[nodiscard]] std::int64_t length() const; ///< ns covered
  [[nodiscard]] std::span<const Interval> intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] IntervalSet minus(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet intersect(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet unite(const IntervalSet& other) const;
  /// ns of [start, end) that are covered. O(log n + k).
  [[nodiscard]] std::int64_t covered(std::int64_t start, std::int64_t end) const;

private:
  std::vector<Interval> intervals_;
};

} // namespace rankscope
