// Micro-batches of a pipeline-parallel job that take different times, and stages that do.
//
// If sequences have different lengths, so does the work of the micro-batches. A long micro-batch
// takes longer in the forward and in the backward computation. Therefore "Understanding Stragglers
// in Large Model Training Using What-if Analysis" (OSDI 2025, arXiv 2505.05713) attributes a job's
// slowdown to sequence lengths if Pearson's coefficient between the forward and the backward
// durations of the micro-batches is at least 0.9.
#pragma once

#include "analyses/job/counted_steps.h"
#include "analyses/job/pipeline_run.h"

#include <cstddef>
#include <optional>

namespace rankscope {

/// Pearson's coefficient between the forward and the backward durations of micro-batches.
struct MicroBatchCorrelation {
  double coefficient = 0;
  /// The 95 % interval over the steps: jackknife of Fisher's z = atanh(coefficient), Student's t
  /// with steps - 1 degrees of freedom. The stages of a data-parallel rank compute the same
  /// micro-batches, so the pairs depend on each other, but the steps do not. Empty with fewer than
  /// two steps that have pairs.
  std::optional<double> low, high;
  std::size_t pairs = 0; ///< micro-batches on a rank, with a forward and a backward duration
};

/// Returns the correlation in the counted steps, or nothing if the durations do not vary or the
/// micro-batches are unknown. With x and y the durations of a pair minus their means on the same
/// rank, model chunk and step, the coefficient is sum(xy) / sqrt(sum(x^2) sum(y^2)). Without the
/// means, a long stage, a slow rank or a slow step would also correlate. In the study's jobs, the
/// coefficient is 0.992 for unequal lengths (SE) and 0.673 for a long last stage (ST). With the
/// means of the complete job, it would be 0.885 and 0.995.
[[nodiscard]] std::optional<MicroBatchCorrelation>
micro_batch_correlation(const JobRun& run, const WorkerGrid& grid, const CountedSteps& clock);

/// Gives all computations of a rank, model chunk and direction (forward or backward) one duration.
/// Without slow ranks, that is the mean m of all ranks of the stage. A rank with the mean m_r gets
/// m + (m_r - m) max(0, 1 - w / b) in all steps. Here, w is the mean square within ranks and b the
/// mean square between ranks (one-way analysis of variance). So the excess of a slow rank remains.
/// Differences between ranks that follow by chance from few micro-batches do not remain.
void equalize_micro_batches(const JobRun& run, const WorkerGrid& grid, JobEdit& edit);

/// Scales the computations of each stage, so that each stage has the mean duration over all stages,
/// separately for forward and backward. The total computation time stays the same.
void balance_stages(const JobRun& run, const WorkerGrid& grid, JobEdit& edit);

} // namespace rankscope
