// gpu_timeline_per_step and ops_per_step: the timeline and the operators with most kernel time,
// step by step (--per-step). A step's GPU work is what its CPU calls launched.
#include "analyses/analysis.h"
#include "core/steps.h"

namespace rankscope {
namespace {

constexpr std::size_t kTopOps = 20;

/// `from` with the step in front of each row, at most `rows` of them.
void append(const Table& from, std::int64_t step, std::size_t rows, std::optional<Table>& to,
            const char* name) {
  if (!to) {
    std::vector<Column> columns{{"step"}};
    columns.insert(columns.end(), from.columns().begin(), from.columns().end());
    to.emplace(name, std::move(columns));
  }
  for (std::size_t r = 0; r < std::min(rows, from.rows()); ++r) {
    std::vector<Value> row{Value(step)};
    for (std::size_t c = 0; c < from.cols(); ++c)
      row.push_back(from.at(r, c));
    to->add_row(row);
  }
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  if (!options.per_step)
    return out;
  std::optional<Table> timeline;
  std::optional<Table> ops;
  for (const ProfilerStep& step : profiler_steps(t.trace)) {
    RS_TRY(const LoadedTrace part,
           part_of_steps(t, step.number, step.number, {needs_python(options)}));
    RS_TRY(const auto timelines, gpu_timeline_analysis.run(part, options));
    append(timelines.front(), step.number, SIZE_MAX, timeline, "gpu_timeline_per_step");
    RS_TRY(const auto tables, ops_summary_analysis.run(part, options));
    for (const Table& table : tables)
      if (table.name() == "ops_summary")
        append(table, step.number, options.top_k_ops > 0 ? options.top_k_ops : kTopOps, ops,
               "ops_per_step");
  }
  if (timeline)
    out.push_back(std::move(*timeline));
  if (ops)
    out.push_back(std::move(*ops));
  return out;
}

} // namespace

const Analysis per_step_analysis{"per_step",
                                 "timeline and top operators of each profiler step",
                                 {"gpu_timeline_per_step", "ops_per_step"},
                                 run};

} // namespace rankscope
