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

OperatorTimes operator_times(const LoadedTrace& trace, const ReportOptions& options) {
  OperatorTimes out;
  for (const OpsSummaryRow& row : trace.shared(OpsSummaryKey{options}))
    out[row.name] += row.direct_ns;
  return out;
}

} // namespace rankscope
