#include "analyses/job/recording_cost.h"

#include "analyses/job/counted_steps.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

constexpr double kLeastPercent = 3;
constexpr double kKept = 0.1;      ///< least fraction of a duration that remains
constexpr double kNearPercent = 1; ///< tolerance relative to the requested time
constexpr int kMostReplays = 20;

JobEdit with_less_host(const JobRun& run, std::int64_t each_ns) {
  JobEdit out = JobEdit::of(run.graph);
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!run.is_activity(n) || on_gpu(run.activity(n).kind))
      continue;
    const std::int64_t dur = run.graph.dur_ns(n);
    const auto kept = static_cast<std::int64_t>(kKept * static_cast<double>(dur));
    out.dur_ns[n] = std::max(kept, dur - each_ns * run.node(n).recorded);
  }
  return out;
}

} // namespace

std::optional<RecordingCost> without_recording(JobRun& run, double step_ms) {
  if (!run.step_begin_ns.empty() || run.graph.size() == 0)
    return std::nullopt;
  const std::vector<std::int64_t> ends = step_ends(run, {});
  const CountedSteps clock(run, critical_path(run.graph), ends);
  RecordingCost out;
  out.recorded_ms = clock.mean_ms(ends);
  if (out.recorded_ms <= step_ms * (1 + kLeastPercent / 100))
    return std::nullopt;
  std::int64_t least = 0, most = 0; // subtracted time in ns
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.is_activity(n) && run.node(n).recorded > 0)
      most = std::max(most, run.graph.dur_ns(n) / run.node(n).recorded);
  const auto mean_with = [&](std::int64_t each) {
    return clock.mean_ms(step_ends(run, with_less_host(run, each)));
  };
  if (mean_with(most) > step_ms * (1 + kNearPercent / 100))
    return std::nullopt;
  // the more time is subtracted, the shorter a step gets
  for (int k = 0; k < kMostReplays && most - least > 1; ++k) {
    const std::int64_t middle = least + (most - least) / 2;
    const double ms = mean_with(middle);
    (ms > step_ms ? least : most) = middle;
    if (std::abs(ms - step_ms) <= step_ms * kNearPercent / 1000) {
      most = middle;
      break;
    }
  }
  const JobEdit edit = with_less_host(run, most);
  out.step_ms = clock.mean_ms(step_ends(run, edit));
  out.each_us = ns_to_us(most);
  run.graph.replay(edit);
  return out;
}

} // namespace rankscope
