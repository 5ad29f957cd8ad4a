#include "base/interval_set.h"

#include <algorithm>

namespace rankscope {

template <class T> BasicIntervalSet<T>::BasicIntervalSet(std::vector<Interval> intervals) {
  const auto by_start = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_start))
    std::sort(intervals.begin(), intervals.end(), by_start);
  std::size_t kept = 0;
  for (const Interval& next : intervals) {
    if (next.end <= next.start)
      continue;
    if (kept > 0 && next.start <= intervals[kept - 1].end)
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, next.end);
    else
      intervals[kept++] = next;
  }
  intervals.resize(kept);
  intervals_ = std::move(intervals);
}

template <class T> T BasicIntervalSet<T>::length() const {
  T sum = 0;
  for (const Interval& i : intervals_)
    sum += i.end - i.start;
  return sum;
}

template <class T>
BasicIntervalSet<T> BasicIntervalSet<T>::minus(const BasicIntervalSet& other) const {
  BasicIntervalSet out;
  std::size_t j = 0;
  for (const Interval& i : intervals_) {
    T at = i.start;
    while (j < other.intervals_.size() && other.intervals_[j].end <= i.start)
      ++j;
    for (std::size_t k = j; k < other.intervals_.size() && other.intervals_[k].start < i.end; ++k) {
      if (other.intervals_[k].start > at)
        out.intervals_.push_back({at, other.intervals_[k].start});
      at = std::max(at, other.intervals_[k].end);
    }
    if (at < i.end)
      out.intervals_.push_back({at, i.end});
  }
  return out;
}

template <class T>
BasicIntervalSet<T> BasicIntervalSet<T>::intersect(const BasicIntervalSet& other) const {
  BasicIntervalSet out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < intervals_.size() && j < other.intervals_.size()) {
    const T start = std::max(intervals_[i].start, other.intervals_[j].start);
    const T end = std::min(intervals_[i].end, other.intervals_[j].end);
    if (start < end)
      out.intervals_.push_back({start, end});
    if (intervals_[i].end < other.intervals_[j].end)
      ++i;
    else
      ++j;
  }
  return out;
}

template <class T>
BasicIntervalSet<T> BasicIntervalSet<T>::unite(const BasicIntervalSet& other) const {
  std::vector<Interval> all(intervals_);
  all.insert(all.end(), other.intervals_.begin(), other.intervals_.end());
  return BasicIntervalSet(std::move(all));
}

template <class T> T BasicIntervalSet<T>::covered(T start, T end) const {
  auto it = std::partition_point(intervals_.begin(), intervals_.end(),
                                 [start](const Interval& i) { return i.end <= start; });
  T sum = 0;
  for (; it != intervals_.end() && it->start < end; ++it)
    sum += std::min(end, it->end) - std::max(start, it->start);
  return sum;
}

template class BasicIntervalSet<std::int64_t>;
template class BasicIntervalSet<double>;

} // namespace rankscope
