#include "analyses/operators/launchers.h"

#include "analyses/operators/unified_perf.h"
#include "base/ascii.h"
#include "base/interval_set.h"
#include "core/reference_time.h"
#include "model/kernels.h"
#include "model/ops/op_registry.h"

#include <algorithm>

namespace rankscope {
namespace {

EventId launcher_of(const LoadedTrace& t, EventId gpu, StrId execute) {
  const EventId runtime = t.tree.parent(gpu);
  const Events& e = t.trace.events;
  for (EventId at = t.tree.parent(runtime); at != kNoEvent; at = t.tree.parent(at)) {
    const Category c = e.category[at];
    if (c == Category::kCpuOp) {
      if (e.name[at] == execute)
        continue;
      return at;
    }
    if (c != Category::kPythonFunction)
      break;
  }
  return runtime;
}

using LaunchersLaunch = std::pair<EventId, EventId>; ///< (launcher, kernel)

/// Fills parent_op and total_ns. Returns the launched events without communication.
std::vector<LaunchersLaunch> walk_gpu(const LoadedTrace& t, bool unlinked, LauncherIndex& out) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  const StrId execute = trace.strings.find("execute");
  std::vector<LaunchersLaunch> pairs;
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const EventId i : out.gpu) {
    const bool linked = t.tree.linked(i);
    if (linked || unlinked) {
      first = std::min(first, e.ts_ns[i]);
      last = std::max(last, trace.end_ns(i));
    }
    EventId op = kNoEvent;
    if (linked) {
      op = t.tree.cpu_op_above(trace, i);
      const EventId launcher = launcher_of(t, i, execute);
      if (op == kNoEvent)
        op = launcher;
      if (!out.communication[e.name[i]])
        pairs.emplace_back(launcher, i);
    }
    out.parent_op.push_back(op);
  }
  out.total_ns = last > first ? last - first : 0;
  return pairs;
}

/// Fills kernels and launchers, ordered by start. Returns the launcher index of each event that is
/// a launcher.
std::vector<std::uint32_t> list_launchers(const LoadedTrace& t, std::vector<LaunchersLaunch> pairs,
                                          bool compat, LauncherIndex& out) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  std::sort(pairs.begin(), pairs.end(), [&e](const auto& a, const auto& b) {
    if (a.first != b.first)
      return e.ts_ns[a.first] != e.ts_ns[b.first] ? e.ts_ns[a.first] < e.ts_ns[b.first]
                                                  : a.first < b.first;
    return e.ts_ns[a.second] != e.ts_ns[b.second] ? e.ts_ns[a.second] < e.ts_ns[b.second]
                                                  : a.second < b.second;
  });
  std::vector<std::uint32_t> row_of(e.size(), kNoRow);
  for (std::size_t i = 0; i < pairs.size();) {
    Launcher l;
    l.event = pairs[i].first;
    l.kernel_begin = static_cast<std::uint32_t>(out.kernels.size());
    for (; i < pairs.size() && pairs[i].first == l.event; ++i)
      out.kernels.push_back(pairs[i].second);
    l.kernel_end = static_cast<std::uint32_t>(out.kernels.size());
    l.category = op_category(trace.name(l.event), trace.name(out.kernels[l.kernel_begin]));
    l.direct_ns = busy_ns(trace, out.kernels_of(l), compat);
    l.subtree_ns = busy_ns(trace, t.tree.gpu_events(l.event), compat);
    l.recompute = !out.recompute.empty() && out.recompute[l.event];
    row_of[l.event] = static_cast<std::uint32_t>(out.launchers.size());
    out.launchers.push_back(l);
  }
  return row_of;
}

/// Returns the category of a kernel whose parent_op is `op`; empty without a parent_op.
std::string_view category_below(const Trace& trace, EventId op, EventId kernel,
                                const Launcher* as_launcher) {
  if (op == kNoEvent)
    return {};
  if (trace.events.category[op] == Category::kCpuOp)
    return as_launcher != nullptr ? as_launcher->category
                                  : op_category(trace.name(op), trace.name(kernel));
  // a runtime call, because there is no operator
  const std::string call = lowercase(trace.name(op));
  return contains(call, "cudagraph") || contains(call, "graphlaunch") ? "graph" : "runtime";
}

} // namespace

TraceGpuWork compute(const LoadedTrace& t, const TraceGpuWorkKey& key) {
  TraceGpuWork out;
  for (EventId i = 0; i < t.trace.events.size(); ++i)
    if (is_gpu(t.trace.events.category[i]))
      out.events.push_back(i);
  out.communication = communication_names(t.trace.strings, key.compat);
  return out;
}

LauncherIndex compute(const LoadedTrace& t, const LaunchersKey& key) {
  const Trace& trace = t.trace;
  LauncherIndex out(t.shared(TraceGpuWorkKey{key.compat}));
  if (key.recompute)
    out.recompute = recompute_events(t);
  const std::vector<std::uint32_t> row_of =
      list_launchers(t, walk_gpu(t, key.unlinked, out), key.compat, out);
  if (!key.compat)
    take_row_categories(t, out);
  for (std::size_t g = 0; g < out.gpu.size(); ++g) {
    const EventId op = out.parent_op[g];
    const bool known = op != kNoEvent && row_of[op] != kNoRow;
    out.parent_category.push_back(
        category_below(trace, op, out.gpu[g], known ? &out.launchers[row_of[op]] : nullptr));
  }
  return out;
}

IntervalSet busy_time(const Trace& trace, std::span<const EventId> events) {
  std::vector<Interval> intervals;
  intervals.reserve(events.size());
  for (const EventId i : events)
    intervals.push_back({trace.events.ts_ns[i], trace.end_ns(i)});
  return IntervalSet(std::move(intervals));
}

double busy_ns(const Trace& trace, std::span<const EventId> events, bool as_reference) {
  if (as_reference) {
    std::vector<UsInterval> intervals;
    intervals.reserve(events.size());
    for (const EventId i : events)
      intervals.push_back(reference_interval(trace, i));
    return UsIntervalSet(std::move(intervals)).length() * 1e3;
  }
  if (events.size() == 1)
    return static_cast<double>(trace.events.dur_ns[events[0]]);
  return static_cast<double>(busy_time(trace, events).length());
}

void sort_unique_by_start(const Trace& trace, std::vector<EventId>& events) {
  sort_by_start(trace.events, events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
}

std::vector<bool> recompute_events(const LoadedTrace& t) {
  const Events& e = t.trace.events;
  std::vector<bool> frame_name(t.trace.strings.size());
  for (StrId id = 0; id < t.trace.strings.size(); ++id) {
    const std::string_view name = t.trace.strings.view(id);
    frame_name[id] = contains(name, "torch/utils/checkpoint.py") && contains(name, "recompute_fn");
  }
  std::vector<bool> out(e.size());
  std::vector<EventId> stack;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kPythonFunction || !frame_name[e.name[i]] || out[i])
      continue;
    stack.assign(1, i);
    while (!stack.empty()) {
      const EventId at = stack.back();
      stack.pop_back();
      out[at] = true;
      for (const EventId child : t.tree.children(at))
        if (!out[child])
          stack.push_back(child);
    }
  }
  return out;
}

} // namespace rankscope
