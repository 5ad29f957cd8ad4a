#include "analyses/timeline/idle_causes.h"

#include "analyses/operators/launchers.h"
#include "base/ascii.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <vector>

namespace rankscope {
namespace {

/// Returns, for each thread (row of Trace::tracks), the times at which calls of waits_for_gpu() ran
/// on it.
std::map<std::uint32_t, IntervalSet> blocking_calls(const Trace& trace) {
  std::vector<std::int8_t> known(trace.strings.size(), -1); // cache, because names repeat
  std::map<std::uint32_t, std::vector<Interval>> calls;
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]))
      continue;
    std::int8_t& is = known[e.name[i]];
    if (is < 0)
      is = waits_for_gpu(trace.strings.view(e.name[i])) ? 1 : 0;
    if (is == 1)
      calls[e.track[i]].push_back({e.ts_ns[i], trace.end_ns(i)});
  }
  std::map<std::uint32_t, IntervalSet> out;
  for (auto& [thread, intervals] : calls)
    out.emplace(thread, IntervalSet(std::move(intervals)));
  return out;
}

class Gaps {
public:
  Gaps(const LoadedTrace& t, IdleTime& out, std::vector<IdlePart>* parts)
      : t_(t), calls_(blocking_calls(t.trace)), out_(out), parts_(parts) {}

  /// Adds a gap: the GPU has no work from `from` until `next` begins. Gaps must be added in the
  /// order of time.
  void add(std::int64_t from, EventId next) {
    const std::int64_t end = t_.trace.events.ts_ns[next];
    gap_ = {};
    if (!t_.tree.linked(next)) {
      add_part(IdleCause::kUnknown, {from, end});
    } else {
      const EventId call = t_.tree.parent(next);
      // by inexact clocks, the launch may be after the start
      const std::int64_t until = std::min(t_.trace.events.ts_ns[call], end);
      if (until <= from) {
        add_part(IdleCause::kQueued, {from, end});
      } else {
        add_unlaunched({from, until}, t_.trace.events.track[call]);
        add_part(IdleCause::kLaunch, {until, end});
      }
    }
    const auto most = std::max_element(gap_.begin(), gap_.end()); // the first of equal values
    ++out_.gaps[static_cast<std::size_t>(most - gap_.begin())];
  }

private:
  /// Adds time before the launch: synchronisation while a blocking call of that thread runs, else
  /// host.
  void add_unlaunched(Interval at, std::uint32_t thread) {
    if (const auto found = calls_.find(thread); found != calls_.end()) {
      const std::span<const Interval> calls = found->second.intervals();
      auto call = std::partition_point(calls.begin(), calls.end(),
                                       [&at](const Interval& c) { return c.end <= at.start; });
      for (; call != calls.end() && call->start < at.end; ++call) {
        const Interval blocked{std::max(call->start, at.start), std::min(call->end, at.end)};
        add_part(IdleCause::kHost, {at.start, blocked.start});
        add_part(IdleCause::kSynchronisation, blocked);
        at.start = blocked.end;
      }
    }
    add_part(IdleCause::kHost, at);
  }

  void add_part(IdleCause cause, Interval at) {
    gap_[static_cast<std::size_t>(cause)] += at.end - at.start;
    out_.ns[static_cast<std::size_t>(cause)] += at.end - at.start;
    Interval& longest = out_.longest[static_cast<std::size_t>(cause)];
    if (at.end - at.start > longest.end - longest.start)
      longest = at;
    if (parts_ != nullptr && at.end > at.start)
      parts_->push_back({at.start, at.end, cause});
  }

  const LoadedTrace& t_;
  std::map<std::uint32_t, IntervalSet> calls_;
  IdleByCause gap_{}; ///< time of the current gap by cause
  IdleTime& out_;
  std::vector<IdlePart>* parts_; ///< nullptr: not requested
};

IdleTime make_idle(const LoadedTrace& t, const IdleKey& key, std::vector<IdlePart>* parts) {
  IdleTime out;
  std::vector<EventId> work;
  for (const EventId i : t.shared(TraceGpuWorkKey{}).events)
    if (t.tree.linked(i) || key.unlinked)
      work.push_back(i);
  sort_by_start(t.trace.events, work);
  Gaps gaps(t, out, parts);
  std::int64_t busy_until = 0;
  for (std::size_t k = 0; k < work.size(); ++k) {
    if (k > 0 && t.trace.events.ts_ns[work[k]] > busy_until)
      gaps.add(busy_until, work[k]);
    const std::int64_t end = t.trace.end_ns(work[k]);
    busy_until = k == 0 ? end : std::max(busy_until, end);
  }
  return out;
}

constexpr std::array<std::string_view, kIdleCauses> kIdleCausesNames = {
    "host", "synchronisation", "launch", "queued", "unknown"};
constexpr std::array<std::string_view, kIdleCauses> kHelp = {
    "the next work was not launched yet", "launching thread was blocked",
    "time between launch call and start", "launched, but not started yet",
    "no launch in the trace"};
constexpr std::array<std::string_view, kIdleCauses> kAdvice = {
    "shorten the CPU's work between launches (graphs, compilation, fewer small kernels)",
    "avoid calls that wait for the GPU (.item(), .cpu(), printing a loss)",
    "launch earlier or launch graphs",
    "find what the launched work waits for (events, other streams)",
    "record CPU activity too, to see the launches"};

} // namespace

bool waits_for_gpu(std::string_view call) {
  const auto has = [call](std::string_view part) { return contains(call, part); };
  return has("Synchronize") || (has("Memcpy") && !has("Async"));
}

std::string_view idle_cause_name(IdleCause cause) {
  return kIdleCausesNames[static_cast<std::size_t>(cause)];
}

std::string_view idle_cause_help(IdleCause cause) {
  return kHelp[static_cast<std::size_t>(cause)];
}

std::string_view idle_cause_advice(IdleCause cause) {
  return kAdvice[static_cast<std::size_t>(cause)];
}

std::int64_t IdleTime::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
}

IdleTime compute(const LoadedTrace& trace, const IdleKey& key) {
  return make_idle(trace, key, nullptr);
}

std::vector<IdlePart> idle_parts_of(const LoadedTrace& trace, const IdleKey& key) {
  std::vector<IdlePart> parts;
  make_idle(trace, key, &parts);
  return parts;
}

IdleByCause idle_in(std::span<const IdlePart> parts, Interval at) {
  IdleByCause out{};
  auto part = std::ranges::partition_point(
      parts, [&at](const IdlePart& p) { return p.end_ns <= at.start; });
  for (; part != parts.end() && part->start_ns < at.end; ++part)
    out[static_cast<std::size_t>(part->cause)] +=
        std::min(part->end_ns, at.end) - std::max(part->start_ns, at.start);
  return out;
}

} // namespace rankscope
