#include "analyses/inference/graph_launches.h"

#include "base/ascii.h"
#include "base/sort.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

bool is_graph_launch(std::string_view name) {
  return lowercase(name).find("graphlaunch") != std::string::npos;
}

/// Assigns each launch to the innermost step around it. If a step was annotated twice, the launch
/// belongs to the later annotation.
void fill_steps(const Trace& trace, const std::vector<FoundLaunch>& launches,
                std::vector<StepLaunches>& steps) {
  std::vector<std::size_t> open; // outermost first
  std::size_t next = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const EventId l = launches[i].event;
    const std::int64_t start = trace.events.ts_ns[l];
    for (; next < steps.size() && steps[next].step.start_ns <= start; ++next)
      open.push_back(next);
    std::erase_if(open, [&](std::size_t s) { return steps[s].step.end_ns < start; });
    for (auto s = open.rbegin(); s != open.rend(); ++s)
      if (trace.end_ns(l) <= steps[*s].step.end_ns) {
        steps[*s].launches.push_back(i);
        break;
      }
  }
}

} // namespace

std::vector<FoundLaunch> find_graph_launches(const LoadedTrace& t) {
  const Events& e = t.trace.events;
  std::vector<signed char> named(t.trace.strings.size(), -1);
  const auto launches = [&](EventId i) {
    signed char& known = named[e.name[i]];
    if (known < 0)
      known = is_graph_launch(t.trace.name(i)) ? 1 : 0;
    return known == 1;
  };
  std::vector<FoundLaunch> out;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_runtime(e.category[i]) || !launches(i))
      continue;
    FoundLaunch l;
    l.event = i;
    for (const EventId child : t.tree.children(i))
      if (is_gpu(e.category[child]) && t.tree.parent(child) == i)
        l.kernels.push_back(child);
    const EventId above = t.tree.parent(i);
    if (l.kernels.empty() && above != kNoEvent && launches(above))
      continue;
    sort_by_start(e, l.kernels);
    out.push_back(std::move(l));
  }
  sort_stably(out, [&e](const FoundLaunch& a, const FoundLaunch& b) {
    return e.ts_ns[a.event] < e.ts_ns[b.event];
  });
  return out;
}

std::vector<StepLaunches> steps_with_launches(const Trace& trace,
                                              const std::vector<FoundLaunch>& launches) {
  std::vector<StepLaunches> steps;
  for (const AnnotatedStep& s : annotated_steps(trace))
    steps.push_back({s});
  fill_steps(trace, launches, steps);
  return steps;
}

std::optional<std::size_t> choose_capture(const std::vector<CaptureFile>& files, std::int64_t batch,
                                          std::size_t launches, std::string& why) {
  std::optional<std::int64_t> padded;
  for (const CaptureFile& f : files)
    if (f.batch_size >= batch && (!padded || f.batch_size < *padded))
      padded = f.batch_size;
  if (!padded) {
    why = fmt::format("no capture of a batch of {} or more", batch);
    return std::nullopt;
  }
  std::optional<std::size_t> full;
  std::optional<std::size_t> pieces;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i].batch_size == *padded)
      (files[i].full ? full : pieces) = i; // among equal files, the last one
  return full && pieces ? (launches == 1 ? full : pieces) : (full ? full : pieces);
}

} // namespace rankscope
