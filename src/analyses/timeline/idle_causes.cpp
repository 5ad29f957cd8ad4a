#include "analyses/timeline/idle_causes.h"

#include "analyses/operators/launchers.h"
#include "base/interval_set.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rankscope {
namespace {

/// A runtime call that comes back when the GPU has done something. Copies that block are not
/// called ...Async.
bool blocks(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return has("Synchronize") || (has("Memcpy") && !has("Async"));
}

/// Ascending, none overlapping: when a call of blocks() ran.
std::vector<Interval> blocking_calls(const Trace& trace) {
  std::vector<std::int8_t> known(trace.strings.size(), -1); // names come often
  std::vector<Interval> calls;
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]))
      continue;
    std::int8_t& is = known[e.name[i]];
    if (is < 0)
      is = blocks(trace.strings.view(e.name[i])) ? 1 : 0;
    if (is == 1)
      calls.push_back({e.ts_ns[i], trace.end_ns(i)});
  }
  const IntervalSet joined(std::move(calls));
  return {joined.intervals().begin(), joined.intervals().end()};
}

class Gaps {
public:
  Gaps(const LoadedTrace& t, IdleTime& out, std::vector<IdlePart>* parts)
      : t_(t), calls_(blocking_calls(t.trace)), out_(out), parts_(parts) {}

  /// The GPU has nothing from `from` until `next` begins. Gaps come in the order of time.
  void add(std::int64_t from, EventId next) {
    const std::int64_t end = t_.trace.events.ts_ns[next];
    out_.longest_ns = std::max(out_.longest_ns, end - from);
    if (!t_.tree.linked(next))
      return add_part(IdleCause::kUnknown, {from, end}, true);
    const std::int64_t launch = t_.trace.events.ts_ns[t_.tree.parent(next)];
    if (launch <= from)
      return add_part(IdleCause::kQueued, {from, end}, true);
    const std::int64_t until = std::min(launch, end); // clocks may put the launch behind the start
    const bool host_most = 2 * (until - from) >= end - from;
    add_part(blocked_at(from) ? IdleCause::kSynchronisation : IdleCause::kHost, {from, until},
             host_most);
    add_part(IdleCause::kLaunch, {until, end}, !host_most);
  }

private:
  void add_part(IdleCause cause, Interval at, bool most) {
    out_.ns[static_cast<std::size_t>(cause)] += at.end - at.start;
    out_.gaps[static_cast<std::size_t>(cause)] += most ? 1 : 0;
    if (parts_ != nullptr && at.end > at.start)
      parts_->push_back({at.start, at.end, cause});
  }

  bool blocked_at(std::int64_t ns) {
    while (call_ < calls_.size() && calls_[call_].end < ns)
      ++call_;
    return call_ < calls_.size() && calls_[call_].start <= ns;
  }

  const LoadedTrace& t_;
  std::vector<Interval> calls_;
  std::size_t call_ = 0; ///< the first that ends at the last gap or later
  IdleTime& out_;
  std::vector<IdlePart>* parts_; ///< nullptr: not asked for
};

IdleTime make_idle(const LoadedTrace& t, const ReportOptions& options,
                   std::vector<IdlePart>* parts) {
  IdleTime out;
  std::vector<EventId> work;
  for (const EventId i : launchers_of(t, options).gpu)
    if (t.tree.linked(i) || options.include_unlinked_kernels)
      work.push_back(i);
  sort_by_start(t.trace, work);
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

constexpr std::array<std::string_view, kIdleCauses> kNames = {"host", "synchronisation", "launch",
                                                              "queued", "unknown"};
constexpr std::array<std::string_view, kIdleCauses> kHelp = {
    "nothing launched yet", "the host waited for the GPU", "from the call to the start",
    "launched, waits for its turn", "no launch in the trace"};

} // namespace

std::string_view idle_cause_name(IdleCause cause) {
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view idle_cause_help(IdleCause cause) {
  return kHelp[static_cast<std::size_t>(cause)];
}

std::int64_t IdleTime::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
}

const IdleTime& idle_time_of(const LoadedTrace& trace, const ReportOptions& options) {
  const std::string key = options.include_unlinked_kernels ? "idle unlinked=true" : "idle";
  return trace.cache.get<IdleTime>(key, [&] { return make_idle(trace, options, nullptr); });
}

std::vector<IdlePart> idle_parts_of(const LoadedTrace& trace, const ReportOptions& options) {
  std::vector<IdlePart> parts;
  make_idle(trace, options, &parts);
  return parts;
}

} // namespace rankscope
