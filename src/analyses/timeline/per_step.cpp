// gpu_timeline_per_step and ops_per_step (--per-step).
#include "analyses/timeline/per_step.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kTopOps = 20;
const char* const kPerStepStepHelp = "N of ProfilerStep#N";

/// A row with the step in front.
template <class Row> struct InStep {
  std::int64_t step = 0;
  const Row* row = nullptr;
};

template <class Row>
Schema<InStep<Row>> in_step(const char* name, const char* help, const Schema<Row>& of) {
  using R = InStep<Row>;
  Schema<R> schema(name, help,
                   {{"step", "step", Unit::kNone, CellKind::kInt,
                     [](const R& r) { return Value(r.step); }, kPerStepStepHelp}});
  schema.add_fields_of(of, [](const R& r) -> const Row& { return *r.row; });
  return schema;
}

/// At most `most` rows of each step.
template <class Row, class Steps>
std::vector<InStep<Row>> flat(const Steps& steps, std::size_t most) {
  std::vector<InStep<Row>> out;
  for (const auto& step : steps)
    for (std::size_t r = 0; r < std::min(most, step.rows.size()); ++r)
      out.push_back({step.step, &step.rows[r]});
  return out;
}

Schema<InStep<TimelineRow>> timeline_in_step(const ReportOptions& options) {
  return in_step("gpu_timeline_per_step", "gpu_timeline of each profiler step",
                 timeline_schema(options));
}

Schema<InStep<OpsSummaryRow>> ops_in_step(const ReportOptions& options) {
  ReportOptions plain = options;
  plain.group_by_parent_module = false;
  return in_step("ops_per_step", "the operators with most kernel time, step by step",
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
  if (!options.per_step || timeline_per_step_of(t, options).empty())
    return out;
  out.push_back(timeline_per_step_table(timeline_per_step_of(t, options), options));
  const std::vector<StepOps>& ops = ops_per_step_of(t, options);
  if (std::any_of(ops.begin(), ops.end(), [](const StepOps& s) { return !s.rows.empty(); }))
    out.push_back(ops_table(ops, options));
  return out;
}

} // namespace

const std::vector<StepTimeline>& timeline_per_step_of(const LoadedTrace& trace,
                                                      const ReportOptions& options) {
  const std::string key = fmt::format("steps' timelines unlinked={} recompute={} micro_idle_us={}",
                                      options.include_unlinked_kernels, options.detect_recompute,
                                      options.micro_idle_us);
  return trace.cache.get<std::vector<StepTimeline>>(
      key, [&] { return step_timelines_of(trace, options); });
}

const std::vector<StepOps>& ops_per_step_of(const LoadedTrace& trace,
                                            const ReportOptions& options) {
  const std::string key = fmt::format("steps' operators recompute={}", options.detect_recompute);
  return trace.cache.get<std::vector<StepOps>>(key, [&] { return step_ops_of(trace, options); });
}

Table timeline_per_step_table(const std::vector<StepTimeline>& steps,
                              const ReportOptions& options) {
  return timeline_in_step(options).table(flat<TimelineRow>(steps, SIZE_MAX));
}

const Analysis per_step_analysis{"per_step",
                                 "timeline and top operators of each profiler step",
                                 {"gpu_timeline_per_step", "ops_per_step"},
                                 run_per_step,
                                 describe_per_step};

} // namespace rankscope
