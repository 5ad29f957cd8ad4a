// The job graph of a pipeline-parallel job from its timeline (docs/whatif.md).
#pragma once

#include "analyses/job/job_run.h"
#include "base/result.h"
#include "core/pipeline_timeline.h"

#include <cstdint>
#include <vector>

namespace rankscope {

/// A forward or backward computation of a micro-batch on one worker.
struct StageComputation {
  NodeId node = kNoNode;
  bool forward = true;
  std::int64_t chunk = -1;       ///< model chunk of the stage; -1: unknown
  std::int64_t micro_batch = -1; ///< number of the micro-batch in its step; -1: unknown
};

/// The grid of a job: positions by rank (position in the run), and all computations.
struct WorkerGrid {
  std::vector<std::int64_t> data_parallel, stage;
  std::vector<StageComputation> computations;
};

struct PipelineRun {
  JobRun run;
  WorkerGrid grid;
};

/// Returns the job graph. The waits follow from the schedule of data-parallel rank 0 in the first
/// step. All steps and data-parallel ranks have the same schedule.
/// - Computations are in order of start on the worker. So are each kind of send and receive, and
///   gathers together with reduce-scatters.
/// - A receive is before the computation of its direction with the same number and after the
///   computation before that. A send is after its computation. Send k of a stage and receive k of
///   the next stage are one transfer. An operation without a peer is a separate transfer.
/// - The first backward send and receive are after the computation two places before the first
///   backward computation.
/// - A gather is before the first forward computation of its chunk. After the last computation,
///   these operations follow one after the other: garbage collection, reductions of layer norms and
///   embeddings, reduce-scatters, clipping and optimizer. If gradients are reduced during the
///   computation, the separate reduction after the reduce-scatters takes their place.
/// - Gathers, reduce-scatters and separate reductions are collectives of all data-parallel ranks of
///   a stage. Clipping is a collective of all workers, and the reduction of embeddings of the first
///   and last stage.
/// A transfer takes the time from the latest start of its members to the end. If that is -10 ms or
/// less (clock error), it counts as 0. Errors: kUnreadable with the operation if the timeline has
/// another shape.
[[nodiscard]] Result<PipelineRun> pipeline_run(const PipelineTimeline& timeline,
                                               const std::string& path);

} // namespace rankscope
