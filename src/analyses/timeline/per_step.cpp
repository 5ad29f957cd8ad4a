// gpu_timeline_per_step and ops_per_step (--per-step).
#include "analyses/timeline/per_step.h"

namespace rankscope {
namespace {

constexpr std::size_t kTopOps = 20;
const char* const kPerStepStepHelp = "number of the step: N of the annotation ProfilerStep#N";

/// A row with its step.
template <class Row> struct InStep {
  std::int64_t step = 0;
  const Row* row = nullptr;
};

template <class Row>
Schema<InStep<Row>> in_step(const char* name, const char* help, const Schema<Row>& row_schema) {
  using R = InStep<Row>;
  Schema<R> schema(name, help, {{"step", &R::step, kPerStepStepHelp}});
  schema.add_fields_of(row_schema, [](const R& r) -> const Row& { return *r.row; });
  return schema;
}

/// Returns at most `most` rows of each step.
template <class Row, class Steps>
std::vector<InStep<Row>> flat(const Steps& steps, std::size_t most) {
  std::vector<InStep<Row>> out;
  for (const auto& step : steps)
    for (std::size_t r = 0; r < std::min(most, step.rows.size()); ++r)
      out.push_back({step.step, &step.rows[r]});
  return out;
}

Schema<InStep<TimelineRow>> timeline_in_step(const TimelineKey& key) {
  return in_step("gpu_timeline_per_step",
                 "gpu_timeline of each profiler step; idle_time and total_time contain the idle "
                 "time after the GPU work of the step before, if it is known",
                 timeline_schema(key));
}

Schema<InStep<OpsSummaryRow>> ops_in_step(const ReportOptions& options) {
  ReportOptions plain = options;
  plain.group_by_parent_module = false;
  return in_step("ops_per_step", "operators with the most kernel time in each step",
                 ops_summary_schema(plain));
}

Table ops_table(const std::vector<StepOps>& steps, const ReportOptions& options) {
  std::size_t most = options.top_k_ops > 0 ? options.top_k_ops : kTopOps;
  if (options.top_k > 0)
    most = std::min(most, options.top_k);
  return ops_in_step(options).table(flat<OpsSummaryRow>(steps, most));
}

std::vector<SheetInfo> describe_per_step(const ReportOptions& options) {
  return {timeline_in_step(options).info(), ops_in_step(options).info()};
}

Result<std::vector<Table>> run_per_step(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  if (!options.per_step || t.shared(StepTimelinesKey{options}).empty())
    return out;
  out.push_back(timeline_per_step_table(t.shared(StepTimelinesKey{options}), options));
  const std::vector<StepOps>& ops = t.shared(StepOpsKey{options});
  if (std::any_of(ops.begin(), ops.end(), [](const StepOps& s) { return !s.rows.empty(); }))
    out.push_back(ops_table(ops, options));
  return out;
}

} // namespace

Table timeline_per_step_table(const std::vector<StepTimeline>& steps, const TimelineKey& key) {
  return timeline_in_step(key).table(flat<TimelineRow>(steps, SIZE_MAX));
}

const Analysis per_step_analysis{"per_step",
                                 "timeline and top operators of each profiler step",
                                 {"gpu_timeline_per_step", "ops_per_step"},
                                 run_per_step,
                                 describe_per_step};

} // namespace rankscope
