#include "core/steps.h"

#include "base/to_number.h"
#include "core/trace_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

constexpr std::string_view kPrefix = "ProfilerStep#";

/// Returns the CPU events for which `inside` is true, the GPU work that they launched, and the GPU
/// work without a launch for which `unlinked_inside` is true.
template <class Inside, class UnlinkedInside>
Trace launched_inside(const Trace& trace, const CallTree& tree, Inside&& inside,
                      UnlinkedInside&& unlinked_inside) {
  const Events& e = trace.events;
  std::vector<bool> keep(e.size());
  for (EventId i = 0; i < e.size(); ++i)
    if (!is_gpu(e.category[i]))
      keep[i] = inside(i);
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]))
      keep[i] = tree.linked(i) ? keep[tree.parent(i)] : unlinked_inside(i);
  std::vector<EventId> rows;
  for (EventId i = 0; i < e.size(); ++i)
    if (keep[i])
      rows.push_back(i);
  return select_events(trace, rows);
}

/// Builds the call tree of the trace `events`. All other data are copied from `source`.
LoadedTrace linked_part(const LoadedTrace& source, Trace events, const CallTreeOptions& options) {
  LoadedTrace out;
  out.trace = std::move(events);
  out.tree = CallTree::build(out.trace, options);
  out.rank = source.rank;
  out.label = source.label;
  out.attention = source.attention;
  out.complete = source.complete;
  return out;
}

} // namespace

std::optional<std::int64_t> profiler_step_number(std::string_view name) {
  if (name.substr(0, kPrefix.size()) != kPrefix)
    return std::nullopt;
  return to_number(name.substr(kPrefix.size()));
}

std::vector<ProfilerStep> profiler_steps(const Trace& trace, bool* restarted) {
  std::vector<ProfilerStep> out;
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kUserAnnotation)
      continue;
    if (const auto number = profiler_step_number(trace.name(i)))
      out.push_back({*number, e.ts_ns[i], trace.end_ns(i)});
  }
  std::ranges::stable_sort(out, {}, &ProfilerStep::start_ns);
  constexpr std::int64_t kMostNumber = std::int64_t{1} << 53U; // so that no sum overflows
  std::set<std::int64_t> used;
  std::int64_t raise = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (ProfilerStep& step : out) {
    if (step.number > kMostNumber || step.number < -kMostNumber)
      continue;
    if (step.start_ns >= end && used.contains(step.number + raise))
      raise = *used.rbegin() + 1 - step.number;
    step.number += raise;
    used.insert(step.number);
    end = std::max(end, step.end_ns);
  }
  if (restarted != nullptr)
    *restarted = raise != 0;
  return out;
}

std::int64_t step_at(const std::vector<ProfilerStep>& steps, std::int64_t ts_ns) {
  const auto it = std::partition_point(
      steps.begin(), steps.end(), [ts_ns](const ProfilerStep& s) { return s.start_ns <= ts_ns; });
  return it != steps.begin() && ts_ns < std::prev(it)->end_ns ? std::prev(it)->number : -1;
}

std::set<std::int64_t> step_numbers(const std::vector<ProfilerStep>& steps) {
  std::set<std::int64_t> out;
  for (const ProfilerStep& step : steps)
    out.insert(step.number);
  return out;
}

StepsOfGpuWork::StepsOfGpuWork(const Trace& trace, const CallTree& tree)
    : steps_(profiler_steps(trace)) {
  const std::size_t linked = tree.linked_count();
  if (steps_.empty() || linked == 0 || linked == tree.gpu_event_count())
    return;
  const Events& e = trace.events;
  std::vector<EventId> launched;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]) && tree.linked(i))
      launched.push_back(i);
  std::ranges::stable_sort(launched, {}, [&e](EventId i) { return e.ts_ns[i]; });
  for (const EventId i : launched) {
    const std::int64_t step = step_at(steps_, e.ts_ns[tree.parent(i)]);
    for (Starts* starts : {&by_stream_[{e.device[i], e.stream[i]}], &by_device_[e.device[i]]})
      if (starts->empty() || starts->back().second != step)
        starts->emplace_back(e.ts_ns[i], step);
  }
}

std::int64_t StepsOfGpuWork::of(const Trace& trace, const CallTree& tree, EventId event) const {
  const Events& e = trace.events;
  const std::int64_t start = e.ts_ns[event];
  if (steps_.empty() || tree.linked_count() == 0 || tree.linked(event))
    return step_at(steps_, tree.linked(event) ? e.ts_ns[tree.parent(event)] : start);
  const auto stream = by_stream_.find({e.device[event], e.stream[event]});
  const auto device = by_device_.find(e.device[event]);
  if (stream == by_stream_.end() && device == by_device_.end())
    return -1;
  const Starts& starts = stream != by_stream_.end() ? stream->second : device->second;
  const auto after = std::ranges::upper_bound(starts, start, {}, &Starts::value_type::first);
  return after == starts.begin() ? -1 : std::prev(after)->second;
}

Result<std::pair<std::int64_t, std::int64_t>> parse_steps(const std::string& text,
                                                          std::string_view option) {
  const std::size_t colon = text.find(':');
  const auto first = to_number(std::string_view(text).substr(0, colon));
  const auto last =
      colon == std::string::npos ? first : to_number(std::string_view(text).substr(colon + 1));
  if (!first || !last || *first < 0 || *first > *last)
    return Error{ErrorCode::kUsage, std::string(option), "expected N or A:B, not '" + text + "'",
                 ""};
  return std::pair(*first, *last);
}

std::string steps_text(const std::pair<std::int64_t, std::int64_t>& steps) {
  return steps.first == steps.second
             ? "step " + std::to_string(steps.first)
             : "steps " + std::to_string(steps.first) + " to " + std::to_string(steps.second);
}

Trace select_events(const Trace& trace, const std::vector<EventId>& rows) {
  TraceBuilder out = TraceBuilder::like(trace);
  out.add_events(trace, rows);
  return std::move(out).finish().value(); // cannot fail: the rows are from a complete trace
}

Result<Trace> restrict_to_steps(const Trace& trace, const CallTree& tree, std::int64_t first,
                                std::int64_t last) {
  const StepsOfGpuWork all(trace, tree);
  std::vector<ProfilerStep> wanted;
  std::string known;
  for (const ProfilerStep& s : all.steps()) {
    if (s.number >= first && s.number <= last)
      wanted.push_back(s);
    known += (known.empty() ? "" : ", ") + std::to_string(s.number);
  }
  if (wanted.empty())
    return Error{ErrorCode::kUsage, trace.path,
                 known.empty() ? "the trace has no ProfilerStep annotations"
                               : "the trace has no such step; it has " + known,
                 ""};
  const auto inside = [&](EventId i) { return step_at(wanted, trace.events.ts_ns[i]) >= 0; };
  const std::set<std::int64_t> numbers = step_numbers(wanted);
  return launched_inside(trace, tree, inside,
                         [&](EventId i) { return numbers.contains(all.of(trace, tree, i)); });
}

LoadedTrace part_of_windows(const LoadedTrace& source, std::vector<TimeWindow> windows,
                            bool include_python) {
  const Trace& trace = source.trace;
  std::sort(windows.begin(), windows.end(), [](const TimeWindow& a, const TimeWindow& b) {
    return std::tie(a.pid, a.start_ns) < std::tie(b.pid, b.start_ns);
  });
  std::vector<TimeWindow> joined; // joined, so that only the last window before an event must be
                                  // checked
  for (const TimeWindow& w : windows) {
    if (!joined.empty() && joined.back().pid == w.pid && w.start_ns <= joined.back().end_ns)
      joined.back().end_ns = std::max(joined.back().end_ns, w.end_ns);
    else
      joined.push_back(w);
  }
  const auto inside = [&](EventId i) {
    const std::int64_t pid = trace.tracks[trace.events.track[i]].pid;
    const std::int64_t ts = trace.events.ts_ns[i];
    const auto after = std::partition_point(joined.begin(), joined.end(), [&](const TimeWindow& w) {
      return std::tie(w.pid, w.start_ns) <= std::tie(pid, ts);
    });
    return after != joined.begin() && std::prev(after)->pid == pid && ts < std::prev(after)->end_ns;
  };
  return linked_part(source,
                     launched_inside(trace, source.tree, inside, [](EventId) { return false; }),
                     {include_python, source.tree.options().rules});
}

LoadedTrace linked_again(const LoadedTrace& source, TreeRules rules) {
  std::vector<EventId> all(source.trace.events.size());
  std::iota(all.begin(), all.end(), EventId{0});
  return linked_part(source, select_events(source.trace, all),
                     {source.tree.options().include_python, rules});
}

Result<LoadedTrace> part_of_steps(const LoadedTrace& source, std::int64_t first, std::int64_t last,
                                  bool include_python) {
  RS_TRY(Trace trace, restrict_to_steps(source.trace, source.tree, first, last));
  return linked_part(source, std::move(trace), {include_python, source.tree.options().rules});
}

} // namespace rankscope
