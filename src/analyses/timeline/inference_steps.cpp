#include "analyses/timeline/inference_steps.h"

#include "base/sort.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace rankscope {

std::vector<AnnotatedStep> annotated_steps(const Trace& trace) {
  const Events& e = trace.events;
  constexpr std::uint32_t kUnparsed = kNoRow;
  std::vector<std::uint32_t> row(trace.strings.size(), kUnparsed);
  std::vector<std::optional<StepCounts>> known;
  std::vector<AnnotatedStep> out;
  bool all_sums = false;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kUserAnnotation)
      continue;
    std::uint32_t& at = row[e.name[i]];
    if (at == kUnparsed) {
      at = static_cast<std::uint32_t>(known.size());
      known.push_back(parse_step_counts(trace.name(i)));
    }
    if (!known[at])
      continue;
    all_sums = all_sums || has_all_sums(known[at]->kind);
    out.push_back({i, e.ts_ns[i], trace.end_ns(i), *known[at]});
  }
  if (all_sums)
    std::erase_if(out, [](const AnnotatedStep& s) { return !has_all_sums(s.counts.kind); });
  sort_stably(out, {}, &AnnotatedStep::start_ns);
  return out;
}

InferenceSteps::InferenceSteps(const Trace& trace) {
  const Events& e = trace.events;
  for (const AnnotatedStep& s : annotated_steps(trace)) {
    const Track& track = trace.tracks[e.track[s.annotation]];
    steps_.push_back(
        {track.pid, track.pid_text, s.start_ns, s.end_ns, e.name[s.annotation], kNone});
  }
  sort_stably(steps_, [](const Step& a, const Step& b) {
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

InferenceSteps compute(const LoadedTrace& trace, const InferenceStepsKey& /*key*/) {
  return InferenceSteps(trace.trace);
}

} // namespace rankscope
