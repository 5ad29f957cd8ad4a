// The job graph of a pipeline-parallel job from its timeline (docs/whatif.md).
#pragma once

#include "analyses/job/job_run.h"
#include "base/result.h"
#include "core/pipeline_timeline.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// By rank (position in the run): its place in the grid of a job.
struct WorkerGrid {
  std::vector<std::int64_t> data_parallel, stage;
};

struct PipelineRun {
  JobRun run;
  WorkerGrid grid;
};

/// Waits follow from the schedule: all steps and data-parallel ranks have that of data-parallel
/// rank 0 in the first step.
/// - computations, each kind of send and receive, and gathers with reduce-scatters: in order of
///   start on the worker;
/// - a receive comes before the computation of its direction with the same number and after the one
///   before; a send after its computation. Send k of a stage and receive k of the next one are one
///   transfer; what has no peer is alone;
/// - the first backward send and receive after the second computation before the first backward;
/// - a gather before the first forward computation of its chunk; then garbage collection,
/// reductions
///   of layer norms and embeddings, reduce-scatters (or the separate reduction after them, when
///   gradients are reduced during the computation), clipping and optimizer, one after the other;
/// - gathers, reduce-scatters and separate reductions are collectives of all data-parallel ranks of
///   a stage, clipping of all workers, the reduction of embeddings of first and last stage.
/// A transfer takes from the latest start of its members to the end, and counts as 0 when that is
/// -10 ms or less (clock error). Errors: kUnreadable when the timeline has another shape, with the
/// operation.
[[nodiscard]] Result<PipelineRun> pipeline_run(const PipelineTimeline& timeline,
                                               const std::string& path);

} // namespace rankscope
