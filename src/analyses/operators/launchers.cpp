#include "analyses/operators/launchers.h"

#include "base/ascii.h"
#include "base/interval_set.h"
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

LauncherIndex build(const LoadedTrace& t, const ReportOptions& options) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  LauncherIndex out;
  out.communication = communication_names(trace.strings);
  if (options.detect_recompute)
    out.recompute = recompute_events(t);
  const StrId execute = trace.strings.find("execute");

  std::vector<std::pair<EventId, EventId>> pairs; // (launcher, kernel)
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_gpu(e.category[i]))
      continue;
    out.gpu.push_back(i);
    const bool linked = t.tree.linked(i);
    if (linked || options.include_unlinked_kernels) {
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

  std::sort(pairs.begin(), pairs.end(), [&e](const auto& a, const auto& b) {
    if (a.first != b.first)
      return e.ts_ns[a.first] != e.ts_ns[b.first] ? e.ts_ns[a.first] < e.ts_ns[b.first]
                                                  : a.first < b.first;
    return e.ts_ns[a.second] != e.ts_ns[b.second] ? e.ts_ns[a.second] < e.ts_ns[b.second]
                                                  : a.second < b.second;
  });
  std::vector<std::uint32_t> launcher_row(e.size(), kNoRow);
  for (std::size_t i = 0; i < pairs.size();) {
    Launcher l;
    l.event = pairs[i].first;
    l.kernel_begin = static_cast<std::uint32_t>(out.kernels.size());
    for (; i < pairs.size() && pairs[i].first == l.event; ++i)
      out.kernels.push_back(pairs[i].second);
    l.kernel_end = static_cast<std::uint32_t>(out.kernels.size());
    l.category = op_category(trace.name(l.event), trace.name(out.kernels[l.kernel_begin]));
    l.direct_ns =
        busy_ns(trace, {out.kernels.data() + l.kernel_begin, out.kernels.data() + l.kernel_end});
    l.subtree_ns = busy_ns(trace, t.tree.gpu_events(l.event));
    l.recompute = !out.recompute.empty() && out.recompute[l.event];
    launcher_row[l.event] = static_cast<std::uint32_t>(out.launchers.size());
    out.launchers.push_back(l);
  }

  for (std::size_t g = 0; g < out.gpu.size(); ++g) {
    const EventId op = out.parent_op[g];
    std::string_view category;
    if (op != kNoEvent) {
      if (e.category[op] != Category::kCpuOp) {
        const std::string lower = lowercase(trace.name(op));
        category = lower.find("cudagraph") != std::string::npos ||
                           lower.find("graphlaunch") != std::string::npos
                       ? "graph"
                       : "runtime";
      } else if (launcher_row[op] != kNoRow) {
        category = out.launchers[launcher_row[op]].category;
      } else {
        category = op_category(trace.name(op), trace.name(out.gpu[g]));
      }
    }
    out.parent_category.push_back(category);
  }
  return out;
}

} // namespace

const LauncherIndex& launchers_of(const LoadedTrace& trace, const ReportOptions& options) {
  const std::string key = std::string("launchers") +
                          (options.include_unlinked_kernels ? " unlinked" : "") +
                          (options.detect_recompute ? " recompute" : "");
  return trace.cache.get<LauncherIndex>(key, [&] { return build(trace, options); });
}

std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events) {
  if (events.size() == 1)
    return trace.events.dur_ns[events[0]];
  std::vector<Interval> intervals;
  intervals.reserve(events.size());
  for (const EventId i : events)
    intervals.push_back({trace.events.ts_ns[i], trace.end_ns(i)});
  return IntervalSet(std::move(intervals)).length();
}

void sort_by_start(const Trace& trace, std::vector<EventId>& events) {
  std::stable_sort(events.begin(), events.end(), [&](EventId a, EventId b) {
    return trace.events.ts_ns[a] < trace.events.ts_ns[b];
  });
  events.erase(std::unique(events.begin(), events.end()), events.end());
}

std::vector<bool> recompute_events(const LoadedTrace& t) {
  const Events& e = t.trace.events;
  std::vector<bool> frame_name(t.trace.strings.size());
  for (StrId id = 0; id < t.trace.strings.size(); ++id) {
    const std::string_view name = t.trace.strings.view(id);
    frame_name[id] = name.find("torch/utils/checkpoint.py") != std::string_view::npos &&
                     name.find("recompute_fn") != std::string_view::npos;
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
