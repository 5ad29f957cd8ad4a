#include "analyses/job/host_ranges.h"

#include "base/sort.h"

#include <algorithm>

namespace rankscope {

HostRanges::HostRanges(const Trace& trace, const std::vector<bool>& tracks,
                       std::span<const ProfilerStep> steps, std::span<const std::int64_t> launches)
    : trace_(trace), threads_(trace.tracks.size()) {
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i) {
    const Category c = e.category[i];
    const bool range = c == Category::kCpuOp || c == Category::kUserAnnotation ||
                       c == Category::kPythonFunction || c == Category::kOverhead;
    has_python_ = has_python_ || c == Category::kPythonFunction;
    if (range && tracks[e.track[i]] && e.dur_ns[i] > 0 &&
        !(c == Category::kUserAnnotation && names_step(i, steps, launches)))
      threads_[e.track[i]].ranges.push_back(i);
  }
  for (Thread& thread : threads_)
    sort_stably(thread.ranges, [&](EventId a, EventId b) {
      return e.ts_ns[a] != e.ts_ns[b] ? e.ts_ns[a] < e.ts_ns[b] : trace.end_ns(a) > trace.end_ns(b);
    });
}

bool HostRanges::names_step(EventId annotation, std::span<const ProfilerStep> steps,
                            std::span<const std::int64_t> launches) const {
  constexpr double kMostLaunches = 0.75;
  if (profiler_step_number(trace_.name(annotation)))
    return true;
  if (is_optimizer(annotation))
    return false;
  const auto launches_in = [launches](std::int64_t from, std::int64_t to) {
    return static_cast<double>(std::ranges::lower_bound(launches, std::max(from, to)) -
                               std::ranges::lower_bound(launches, from));
  };
  const std::int64_t begin = trace_.events.ts_ns[annotation], end = trace_.end_ns(annotation);
  const auto first = std::ranges::partition_point(
      steps, [begin](const ProfilerStep& step) { return step.end_ns <= begin; });
  const auto last = std::partition_point(
      first, steps.end(), [end](const ProfilerStep& step) { return step.start_ns < end; });
  return std::any_of(first, last, [&](const ProfilerStep& step) {
    const double all = launches_in(step.start_ns, step.end_ns);
    return all > 0 && launches_in(std::max(begin, step.start_ns), std::min(end, step.end_ns)) >=
                          kMostLaunches * all;
  });
}

double HostRanges::frame_cost_percent() const {
  const Events& e = trace_.events;
  std::vector<std::int64_t> costs;
  std::size_t frames = 0;
  std::int64_t span = 0;
  for (const Thread& thread : threads_) {
    if (thread.ranges.empty())
      continue;
    std::int64_t end = INT64_MIN;
    EventId last = kNoEvent; // the preceding frame
    for (const EventId range : thread.ranges) {
      end = std::max(end, trace_.end_ns(range));
      if (e.category[range] != Category::kPythonFunction) {
        last = kNoEvent;
        continue;
      }
      ++frames;
      if (last != kNoEvent && trace_.end_ns(last) >= trace_.end_ns(range))
        costs.push_back(e.ts_ns[range] - e.ts_ns[last]);
      last = range;
    }
    span += end - e.ts_ns[thread.ranges.front()];
  }
  if (costs.empty() || span <= 0)
    return 0;
  const auto low = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 20);
  std::nth_element(costs.begin(), low, costs.end());
  return 100 * static_cast<double>(frames) * static_cast<double>(*low) / static_cast<double>(span);
}

/// Opens the ranges that begin until `to` and closes the ranges that end until then.
void HostRanges::advance(Thread& thread, std::int64_t to) {
  const auto end_of = [this](EventId range) { return trace_.end_ns(range); };
  const auto close = [&](std::int64_t until) {
    if (thread.first_end_ns > until)
      return;
    const auto ended = [&](EventId range) { return end_of(range) <= until; };
    const auto last = std::ranges::max_element(thread.operators, {}, end_of);
    const EventId last_outer = last == thread.operators.end() ? thread.last_outer : *last;
    // by inexact times, a range may begin in another one and end after it
    std::erase_if(thread.open, ended);
    std::erase_if(thread.operators, ended);
    if (thread.operators.empty())
      thread.last_outer = last_outer;
    thread.first_end_ns = INT64_MAX;
    for (const EventId range : thread.open)
      thread.first_end_ns = std::min(thread.first_end_ns, end_of(range));
  };
  for (; thread.next < thread.ranges.size(); ++thread.next) {
    const EventId range = thread.ranges[thread.next];
    const std::int64_t start = trace_.events.ts_ns[range];
    if (start > to)
      break;
    close(start);
    thread.open.push_back(range);
    thread.first_end_ns = std::min(thread.first_end_ns, end_of(range));
    if (trace_.events.category[range] != Category::kPythonFunction)
      thread.operators.push_back(range);
  }
  close(to);
}

HostCode HostRanges::code(EventId range) {
  const auto [at, fresh] = codes_.try_emplace(trace_.events.name[range], HostCode::kOther);
  if (fresh)
    at->second = host_code_around(trace_.name(range));
  return at->second;
}

bool HostRanges::is_optimizer(EventId range) const {
  return trace_.name(range).starts_with("Optimizer.");
}

EventId HostRanges::outermost(const Thread& thread) const {
  // training loops often enclose the optimizer in another annotation
  for (const EventId range : thread.operators)
    if (is_optimizer(range))
      return range;
  return thread.operators.front();
}

HostRanges::Stretch HostRanges::stretch(std::uint32_t track, std::int64_t from, std::int64_t to) {
  Thread& thread = threads_[track];
  Stretch out;
  advance(thread, from);
  const std::size_t first = thread.next;
  const std::int64_t half = (to - from + 1) / 2;
  EventId name = kNoEvent;
  HostCode known = HostCode::kOther;
  const auto cover = [&](EventId range) { // outer ranges first
    const HostCode its = code(range);
    if (its == known ? known == HostCode::kOther : its != HostCode::kOther) {
      name = range;
      known = its;
    }
  };
  for (const EventId range : thread.open)
    if (std::min(to, trace_.end_ns(range)) - from >= half)
      cover(range);
  // the longest time without an operator or annotation, with the ranges before and after it
  const bool covered = !thread.operators.empty();
  std::int64_t until = covered ? std::min(to, trace_.end_ns(thread.operators.front())) : from;
  EventId last = covered ? outermost(thread) : thread.last_outer;
  EventId before = last, after = kNoEvent;
  std::int64_t longest = 0;
  const auto hole = [&](std::int64_t next_begin, EventId next) {
    if (next_begin - until <= longest)
      return;
    longest = next_begin - until;
    before = last;
    after = next;
  };
  for (std::size_t k = thread.next; k < thread.ranges.size(); ++k) {
    const EventId range = thread.ranges[k];
    const std::int64_t start = trace_.events.ts_ns[range];
    if (start >= to)
      break;
    if (std::min(to, trace_.end_ns(range)) - start >= half)
      cover(range); // nested ranges come later
    if (trace_.events.category[range] == Category::kPythonFunction)
      continue;
    const std::int64_t end = trace_.end_ns(range);
    if (2 * (until - start) <= end - start) { // not nested: by inexact times, ranges may overlap
      hole(start, range);
      last = range;
    }
    until = std::max(until, end);
  }
  advance(thread, to);
  out.begun = static_cast<std::uint32_t>(thread.next - first);
  const EventId at_end = thread.operators.empty() ? kNoEvent : outermost(thread);
  hole(to, at_end);
  if (longest == 0)
    after = at_end;
  if (name != kNoEvent)
    out.name = trace_.events.name[name];
  if (before != kNoEvent)
    out.before = trace_.events.name[before];
  if (after != kNoEvent)
    out.after = trace_.events.name[after];
  return out;
}

HostRanges::At HostRanges::at(std::uint32_t track, std::int64_t time) {
  Thread& thread = threads_[track];
  advance(thread, time);
  At out;
  out.begin_ns = time;
  EventId around = kNoEvent; // the optimizer's range
  if (!thread.operators.empty()) {
    const EventId outer = outermost(thread);
    out.outermost = trace_.events.name[outer];
    if (is_optimizer(outer))
      around = outer;
  }
  for (const EventId range : thread.open)
    if (code(range) == HostCode::kCheckpoint) {
      out.outermost = trace_.events.name[range];
      break;
    }
  for (auto range = thread.operators.rbegin(); range != thread.operators.rend(); ++range)
    if (trace_.events.category[*range] == Category::kCpuOp) {
      out.op = trace_.events.name[*range];
      around = around == kNoEvent ? *range : around;
      break;
    }
  if (around != kNoEvent)
    out.begin_ns = trace_.events.ts_ns[around];
  return out;
}

} // namespace rankscope
