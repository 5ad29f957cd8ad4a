#include "analyses/timeline/stream_overlap.h"

#include "base/sort.h"

namespace rankscope {
namespace {

std::vector<EventId> gpu_by_stream(const Trace& trace) {
  const Events& e = trace.events;
  std::vector<EventId> order;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]))
      order.push_back(i);
  sort_stably(order, [&e](EventId a, EventId b) {
    return e.track[a] != e.track[b] ? e.track[a] < e.track[b] : e.ts_ns[a] < e.ts_ns[b];
  });
  return order;
}

template <class OnOverlap> StreamOverlaps scan(const Trace& trace, const OnOverlap& on_overlap) {
  const Events& e = trace.events;
  const std::vector<EventId> order = gpu_by_stream(trace);
  StreamOverlaps out;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    const EventId i = order[k];
    const EventId next = order[k + 1];
    if (e.track[i] != e.track[next])
      continue;
    const std::int64_t over = trace.end_ns(i) - e.ts_ns[next];
    if (over <= 0)
      continue;
    ++out.count;
    out.absurd += over > 100'000 && over * 2 > e.dur_ns[i] ? 1 : 0;
    out.total_ns += over;
    if (over > out.longest_ns) {
      out.longest_ns = over;
      out.longest = i;
    }
    on_overlap(i, e.ts_ns[next]);
  }
  return out;
}

} // namespace

StreamOverlaps find_stream_overlaps(const Trace& trace) {
  return scan(trace, [](EventId, std::int64_t) {});
}

StreamOverlaps clip_stream_overlaps(Trace& trace) {
  std::vector<std::pair<EventId, std::int64_t>> ends;
  StreamOverlaps out = scan(
      trace, [&ends](EventId i, std::int64_t next_start) { ends.emplace_back(i, next_start); });
  for (const auto& [i, end] : ends)
    trace.events.dur_ns[i] = end - trace.events.ts_ns[i];
  return out;
}

} // namespace rankscope
