#include "analyses/timeline/own_times.h"

#include "analyses/operators/launchers.h"
#include "base/interval_set.h"
#include "base/sort.h"
#include "core/steps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>

namespace rankscope {
namespace {

constexpr auto kUnknownIdle = static_cast<std::size_t>(IdleCause::kUnknown);

/// Returns the parts of [start, end) that the set does not cover, ascending. O(log n + k).
std::vector<Interval> parts_outside(const IntervalSet& set, std::int64_t start, std::int64_t end) {
  const std::span<const Interval> all = set.intervals();
  std::vector<Interval> out;
  for (auto it = std::ranges::partition_point(all, [start](Interval i) { return i.end <= start; });
       it != all.end() && it->start < end; ++it) {
    if (start < it->start)
      out.push_back({start, it->start});
    start = it->end;
  }
  if (start < end)
    out.push_back({start, end});
  return out;
}

/// Divides a step's time among its events, and sets total_ns. The cause of all its idle time is
/// unknown. Returns the first start and the last end of the events.
Interval divide(const Trace& trace, StepSelfTimes& step) {
  sort_stably(step.events, [&](const SelfTime& a, const SelfTime& b) {
    return trace.events.ts_ns[a.event] < trace.events.ts_ns[b.event];
  });
  IntervalSet covered; // time of kinds that take precedence
  for (const TimelineBucket bucket :
       {TimelineBucket::kCompute, TimelineBucket::kCommunication, TimelineBucket::kMemcpy}) {
    std::vector<Interval> intervals;
    std::int64_t reached = INT64_MIN; // end of the earlier events of this kind
    for (SelfTime& time : step.events) {
      if (time.bucket != bucket)
        continue;
      const std::int64_t start = trace.events.ts_ns[time.event];
      const std::int64_t end = trace.end_ns(time.event);
      intervals.push_back({start, end});
      const std::int64_t from = std::max(start, reached);
      if (from < end)
        time.ns = end - from - covered.covered(from, end);
      if (bucket == TimelineBucket::kCommunication)
        time.parts = parts_outside(covered, from, end);
      reached = std::max(reached, end);
    }
    covered = covered.unite(IntervalSet(std::move(intervals)));
  }
  Interval window{trace.events.ts_ns[step.events.front().event], INT64_MIN};
  for (const SelfTime& time : step.events)
    window.end = std::max(window.end, trace.end_ns(time.event));
  step.total_ns = window.end - window.start;
  step.idle_ns[kUnknownIdle] = step.total_ns - covered.length();
  return window;
}

/// Moves idle time of unknown cause to these causes.
void set_causes(IdleByCause& idle, const IdleByCause& causes) {
  for (std::size_t c = 0; c < kUnknownIdle; ++c) {
    idle[c] += causes[c];
    idle[kUnknownIdle] -= causes[c];
  }
}

/// Returns the causes of `ns` of idle time in the proportions of `all`.
IdleByCause in_proportion(const IdleByCause& all, std::int64_t ns) {
  IdleByCause out{};
  const auto sum = static_cast<double>(std::accumulate(all.begin(), all.end(), std::int64_t{0}));
  for (std::size_t c = 0; c < kUnknownIdle && sum > 0; ++c)
    out[c] = static_cast<std::int64_t>(static_cast<double>(ns) * static_cast<double>(all[c]) / sum);
  return out;
}

} // namespace

SelfTimes self_times_of(const LoadedTrace& t, const TimelineKey& key) {
  const StepsOfGpuWork steps(t.trace, t.tree);
  const std::vector<EventId>& gpu = t.shared(key.launchers).gpu;
  const std::vector<TimelineBucket> buckets = timeline_buckets_of(t, gpu, key);
  SelfTimes out;
  out.without_steps = steps.steps().empty();
  std::map<std::int64_t, StepSelfTimes> by_step;
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    if (!t.tree.linked(gpu[i]) && !key.launchers.unlinked)
      continue;
    const std::int64_t step = out.without_steps ? 0 : steps.of(t.trace, t.tree, gpu[i]);
    if (step >= 0)
      by_step[step].events.push_back({gpu[i], static_cast<std::uint32_t>(i), buckets[i], 0, {}});
  }
  std::vector<StepWindow> windows;
  for (auto& [number, step] : by_step)
    windows.push_back({number, divide(t.trace, step)});
  const IdleBeforeSteps idle = idle_before_steps(windows, step_numbers(steps.steps()));
  IdleKey idle_key;
  idle_key.unlinked = key.launchers.unlinked;
  const std::vector<IdlePart> parts = idle_parts_of(t, idle_key);
  std::vector<IdleByCause> before; // by step
  IdleByCause all_before{};
  for (std::size_t s = 0; s < windows.size(); ++s) {
    const std::int64_t start = windows[s].gpu.start;
    before.push_back(idle.estimated[s] ? IdleByCause{}
                                       : idle_in(parts, {start - idle.ns[s].value_or(0), start}));
    std::ranges::transform(all_before, before[s], all_before.begin(), std::plus<>());
  }
  std::size_t s = 0;
  for (auto& [number, step] : by_step) {
    if (const std::optional<std::int64_t> ns = idle.ns[s]) {
      step.step = number;
      step.idle_ns[kUnknownIdle] += *ns;
      step.total_ns += *ns;
      set_causes(step.idle_ns, idle.estimated[s] ? in_proportion(all_before, *ns) : before[s]);
      set_causes(step.idle_ns, idle_in(parts, windows[s].gpu));
      out.steps.push_back(std::move(step));
    }
    ++s;
  }
  return out;
}

} // namespace rankscope
