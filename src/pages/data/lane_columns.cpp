#include "pages/data/lane_columns.h"

#include "base/sort.h"

#include <algorithm>
#include <numeric>

namespace rankscope {
namespace {

std::int64_t width_of(Interval span, std::size_t parts) {
  const auto count = static_cast<std::int64_t>(parts);
  const std::int64_t length = std::max<std::int64_t>(span.end - span.start, 1);
  return length / count + (length % count != 0 ? 1 : 0);
}

IntervalSet set_of(std::span<const LaneEvent> events, LaneKind kind) {
  std::vector<Interval> intervals;
  for (const LaneEvent& e : events)
    if (e.kind == kind)
      intervals.push_back({e.start_ns, e.end_ns()});
  return IntervalSet(std::move(intervals));
}

class Columns {
public:
  Columns(LaneColumns& out, std::size_t count) : out_(out), count_(count) {}

  [[nodiscard]] std::size_t at(std::int64_t ns) const {
    const std::int64_t column = (ns - out_.start_ns) / out_.width_ns;
    return std::min(static_cast<std::size_t>(std::max<std::int64_t>(column, 0)), count_ - 1);
  }

  void add(const IntervalSet& set, LaneKind kind) {
    for (const Interval& i : set.intervals())
      for (std::size_t c = at(i.start); c <= at(i.end - 1); ++c) {
        const std::int64_t from = out_.start_ns + static_cast<std::int64_t>(c) * out_.width_ns;
        out_.ns[c][static_cast<std::size_t>(kind)] +=
            std::min(i.end, from + out_.width_ns) - std::max(i.start, from);
      }
  }

  /// Visits the longest events first, so that each column is set once: O(events + columns) after
  /// the sort.
  void add_longest(std::span<const LaneEvent> events) {
    std::vector<std::uint32_t> order(events.size());
    std::iota(order.begin(), order.end(), 0U);
    sort_stably(order, [&](std::uint32_t a, std::uint32_t b) {
      return events[a].dur_ns > events[b].dur_ns;
    });
    std::vector<std::size_t> next(count_ + 1); // next column without an event
    std::iota(next.begin(), next.end(), std::size_t{0});
    const auto free_from = [&next](std::size_t c) {
      while (next[c] != c) {
        next[c] = next[next[c]];
        c = next[c];
      }
      return c;
    };
    for (const std::uint32_t e : order) {
      const std::int64_t last = std::max(events[e].end_ns() - 1, events[e].start_ns);
      const std::size_t end = at(last);
      for (std::size_t c = free_from(at(events[e].start_ns)); c <= end; c = free_from(c)) {
        out_.longest[c] = e;
        next[c] = c + 1;
      }
    }
  }

private:
  LaneColumns& out_;
  std::size_t count_;
};

} // namespace

LaneColumns lane_columns(std::span<const LaneEvent> events, const IntervalSet& computing,
                         Interval span, std::size_t columns) {
  LaneColumns out;
  out.start_ns = span.start;
  out.width_ns = width_of(span, columns);
  out.ns.resize(columns);
  out.longest.assign(columns, kNoLaneEvent);
  out.begun.resize(columns);
  Columns into(out, columns);
  const IntervalSet compute = set_of(events, LaneKind::kCompute);
  const IntervalSet comm = set_of(events, LaneKind::kExposedComm).minus(compute);
  const IntervalSet copy = set_of(events, LaneKind::kCopy).minus(compute).minus(comm);
  into.add(compute, LaneKind::kCompute);
  into.add(comm.minus(computing), LaneKind::kExposedComm);
  into.add(comm.intersect(computing), LaneKind::kHiddenComm);
  into.add(copy, LaneKind::kCopy);
  into.add_longest(events);
  for (const LaneEvent& e : events)
    ++out.begun[into.at(e.start_ns)];
  return out;
}

std::vector<std::uint32_t> important_events(std::span<const LaneEvent> events, Interval span,
                                            std::size_t most, std::size_t tiles) {
  std::vector<std::uint32_t> out;
  if (events.size() <= most) {
    out.resize(events.size());
    std::iota(out.begin(), out.end(), 0U);
    return out;
  }
  const std::int64_t width = width_of(span, tiles);
  const std::size_t each = std::max<std::size_t>(most / tiles, 1);
  std::vector<std::uint32_t> tile_events;
  const auto keep = [&] {
    const auto longer = [&](std::uint32_t a, std::uint32_t b) {
      return events[a].dur_ns != events[b].dur_ns ? events[a].dur_ns > events[b].dur_ns : a < b;
    };
    if (tile_events.size() > each) {
      std::nth_element(tile_events.begin(), tile_events.begin() + static_cast<std::ptrdiff_t>(each),
                       tile_events.end(), longer);
      tile_events.resize(each);
      std::sort(tile_events.begin(), tile_events.end());
    }
    out.insert(out.end(), tile_events.begin(), tile_events.end());
    tile_events.clear();
  };
  std::int64_t tile = 0;
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    const std::int64_t at = (events[e].start_ns - span.start) / width;
    if (at != tile)
      keep();
    tile = at;
    tile_events.push_back(e);
  }
  keep();
  return out;
}

} // namespace rankscope
