// The data of one rank's trace for a comparison.
#include "analyses/compare/compared_run.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/timeline/per_step.h"

namespace rankscope {

RankTimeline rank_timeline(const LoadedTrace& trace, const ReportOptions& options) {
  RankTimeline out;
  for (const TimelineRow& row : trace.shared(TimelineKey{options}))
    out.kinds.emplace(row.kind, KindTime{static_cast<std::int64_t>(row.time_ns), row.percent});
  for (const StepTimeline& step : trace.shared(StepTimelinesKey{options}))
    for (const TimelineRow& row : step.rows)
      if (step.complete || !has_idle_before(row.kind))
        out.step_ns[row.kind][step.step] = static_cast<std::int64_t>(row.time_ns);
  return out;
}

IdleBeforeSteps known_idle(const std::map<std::int64_t, std::int64_t>& total_ns) {
  std::vector<StepWindow> windows;
  std::set<std::int64_t> recorded;
  for (const auto& [step, ns] : total_ns) {
    recorded.insert(step);
    if (ns > 0)
      windows.push_back({step, {}});
  }
  return idle_before_steps(windows, recorded);
}

bool counts_idle(const RankTimeline& rank) {
  const auto total = rank.step_ns.find(TimeKind::kTotal);
  const auto computation = rank.step_ns.find(TimeKind::kComputation);
  if (total == rank.step_ns.end() || computation == rank.step_ns.end())
    return computation != rank.step_ns.end();
  // a step for which the time is unknown has no total time
  return total->second.size() < computation->second.size() || known_idle(total->second).counted;
}

OperatorTimes operator_times(const LoadedTrace& trace, const ReportOptions& options) {
  OperatorTimes out;
  for (const OpsSummaryRow& row : trace.shared(OpsSummaryKey{options}))
    out[row.name] += row.direct_ns;
  return out;
}

} // namespace rankscope
