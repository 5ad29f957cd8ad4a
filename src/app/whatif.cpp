#include "app/whatif.h"

#include "app/replayed_trace.h"
#include "base/counters.h"
#include "core/steps.h"
#include "readers/pipeline_timeline.h"

#include <filesystem>

namespace rankscope {
namespace {

struct WhatIfInput {
  std::string title;
  JobRun run;
  std::optional<WorkerGrid> grid;
};

Result<WhatIfInput> read_whatif(Session& session, const JobInputRequest& request) {
  std::error_code none;
  if (request.inputs.size() == 1 && session.source == nullptr &&
      std::filesystem::is_regular_file(request.inputs.front(), none) &&
      is_pipeline_timeline_file(request.inputs.front())) {
    const std::string& path = request.inputs.front();
    RS_TRY(const PipelineTimeline timeline, read_pipeline_timeline(path));
    RS_TRY(PipelineRun pipeline, pipeline_run(timeline, path));
    return WhatIfInput{path, std::move(pipeline.run), std::move(pipeline.grid)};
  }
  RS_TRY(JobInput job, read_job(session, request));
  return WhatIfInput{std::move(job.title), std::move(job.run), std::nullopt};
}

/// Returns the operator times of another run, which is read with the options of the first run.
Result<TimesByOperator> times_in(Session& session, JobInputRequest request,
                                 const std::string& path) {
  if (session.source != nullptr)
    return Error{ErrorCode::kUsage, path, "the parts of a run do not contain another run",
                 "run whatif on the traces"};
  request.inputs = {path};
  RS_TRY(const JobInput other, read_job(session, request));
  return operator_times(other.run);
}

} // namespace

Result<WhatIfFacts> whatif_of(Session& session, const WhatIfRequest& request) {
  RS_TRY(const WhatIfInput input, read_whatif(session, request.job));
  std::vector<RunEdit> changes = request.changes;
  for (RunEdit& change : changes)
    if (!change.other.empty()) {
      RS_TRY(change.times, times_in(session, request.job, change.other));
    }
  std::optional<StepPositions> steps;
  if (request.steps) {
    RS_TRY(steps, step_positions(input.run, request.steps->first, request.steps->second));
  }
  RS_TRY(WhatIf out, whatif_of(input.run, input.grid ? &*input.grid : nullptr, changes, steps));
  out.facts.title = input.title;
  if (request.steps)
    out.facts.title += ", " + steps_text(*request.steps);
  if (const double unexplained = out.facts.doubt_percent(); unexplained > kDoubtfulPercent)
    session.diagnostics.add(
        counters::job_graph_incomplete(unexplained, "the replayed times are uncertain"),
        out.facts.title);
  if (!request.output.empty())
    RS_CHECK(write_replayed(input.run, out.edit, request.output, session.diagnostics));
  return std::move(out.facts);
}

} // namespace rankscope
