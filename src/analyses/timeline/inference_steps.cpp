#include "analyses/timeline/inference_steps.h"

#include "model/step_annotation.h"

#include <algorithm>
#include <tuple>

namespace rankscope {

InferenceSteps::InferenceSteps(const Trace& trace) {
  const Events& e = trace.events;
  std::vector<signed char> kind(trace.strings.size(), -1); // 0 none, 1 short, 2 with all sums
  bool detailed = false;
  const auto kind_of = [&](StrId name) {
    if (kind[name] < 0) {
      const auto sums = parse_step_annotation(trace.strings.view(name));
      kind[name] = sums ? (sums->detailed ? 2 : 1) : 0;
    }
    return kind[name];
  };
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kUserAnnotation || kind_of(e.name[i]) == 0)
      continue;
    const Track& track = trace.tracks[e.track[i]];
    detailed = detailed || kind_of(e.name[i]) == 2;
    steps_.push_back({track.pid, track.pid_text, e.ts_ns[i], trace.end_ns(i), e.name[i], kNone});
  }
  if (detailed)
    std::erase_if(steps_, [&](const Step& s) { return kind_of(s.name) != 2; });
  std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return std::tie(a.pid, a.pid_text, a.start_ns) < std::tie(b.pid, b.pid_text, b.start_ns);
  });
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto over = [&](const Step& s) {
      return s.pid != steps_[i].pid || s.pid_text != steps_[i].pid_text ||
             s.end_ns <= steps_[i].start_ns;
    };
    while (!open.empty() && over(steps_[open.back()]))
      open.pop_back();
    steps_[i].outer = open.empty() ? kNone : open.back();
    open.push_back(i);
  }
}

StrId InferenceSteps::at(const Trace& trace, EventId e) const {
  const Track& track = trace.tracks[trace.events.track[e]];
  const std::int64_t ts = trace.events.ts_ns[e];
  const auto after = std::partition_point(steps_.begin(), steps_.end(), [&](const Step& s) {
    return std::tie(s.pid, s.pid_text, s.start_ns) <= std::tie(track.pid, track.pid_text, ts);
  });
  if (after == steps_.begin())
    return kEmptyStr;
  const Step* step = &*std::prev(after);
  if (step->pid != track.pid || step->pid_text != track.pid_text)
    return kEmptyStr;
  while (ts >= step->end_ns && step->outer != kNone)
    step = &steps_[step->outer];
  return ts < step->end_ns ? step->name : kEmptyStr;
}

const InferenceSteps& inference_steps_of(const LoadedTrace& trace) {
  return trace.cache.get<InferenceSteps>("inference steps",
                                         [&] { return InferenceSteps(trace.trace); });
}

} // namespace rankscope
