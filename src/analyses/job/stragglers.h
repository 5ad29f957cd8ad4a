// The part of a step's time that stragglers cost, and the stragglers (docs/whatif.md). Compares the
// measured step with a step in which every activity has its usual duration. Definitions of
// "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025, arXiv
// 2505.05713).
#pragma once

#include "analyses/job/micro_batches.h"
#include "analyses/job/path_rows.h"
#include "analyses/job/pipeline_run.h"
#include "analyses/job/places.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

enum class StragglerGroup : std::uint8_t { kOperator, kRank, kDataParallel, kStage };
/// Returns "operator", "rank", "dp-rank" or "stage". These names are stable.
[[nodiscard]] std::string_view straggler_group_name(StragglerGroup group);

/// The ideal run, except that a group has its measured durations.
struct StragglerShare {
  StragglerGroup group = StragglerGroup::kOperator;
  std::string name;
  double slowdown = 1;           ///< mean step divided by that of the ideal run
  double cost_ms = 0;            ///< cost per step
  std::vector<double> step_slow; ///< slowdown of each counted step
};

/// The part of the slowdown that some activities explain.
struct StragglerEffect {
  std::vector<std::int64_t> ranks; ///< the ranks of these activities; empty: all ranks
  /// Share of the slowdown removed if these activities have their usual durations; 1: all.
  double removed = 0;
  /// Share of the slowdown added if only these activities have their measured durations. Only for
  /// groups of ranks.
  std::optional<double> added;
  double gain_ms = 0; ///< gain per step if these activities have their usual durations
  /// The 95 % interval of the gain over the steps, corrected for the choice among all ranks or
  /// stages.
  std::optional<double> low_ms, high_ms;
};

struct StragglerStep {
  std::int64_t number = 0;
  double measured_ms = 0, without_delays_ms = 0, ideal_ms = 0;
};

struct StragglerFacts {
  std::size_t ranks = 0;
  double measured_ms = 0;       ///< mean time of a step
  double without_delays_ms = 0; ///< replay without delays: T
  double ideal_ms = 0; ///< replay without delays, and every activity with its usual duration
  std::vector<StragglerStep> steps;
  std::vector<StragglerShare> shares; ///< largest slowdown first within each group
  /// Number of shares that were not computed.
  std::size_t ranks_left_out = 0, operators_left_out = 0;
  std::optional<StragglerEffect> worst_ranks; ///< the 3 % of ranks with the largest slowdown: M_W
  std::optional<StragglerEffect> last_stage;  ///< the last stage: M_S
  /// The following members are only set for pipeline-parallel jobs.
  std::optional<MicroBatchCorrelation> correlation;
  std::optional<StragglerEffect> equal_batches;  ///< equalize_micro_batches()
  std::optional<StragglerEffect> even_stages;    ///< balance_stages(), with two or more stages
  std::optional<StragglerEffect> equal_and_even; ///< both

  [[nodiscard]] double slowdown() const { return ideal_ms > 0 ? without_delays_ms / ideal_ms : 1; }
  [[nodiscard]] double delay_slowdown() const {
    return without_delays_ms > 0 ? measured_ms / without_delays_ms : 1;
  }
};

/// Returns an edit without delays in which every activity has its usual duration. That is the mean
/// duration at its place; for communication, it is the median.
[[nodiscard]] JobEdit ideal_edit(const JobRun& run, const RunPlaces& places);

/// Returns the cost of stragglers. `ideal`: ideal_edit(). `grid`: the grid of a pipeline-parallel
/// job, or nullptr to compare the ranks directly. If there are more than 64 ranks or operators,
/// only those with the most time above the usual time are included. One replay for each share:
/// O(nodes * shares).
[[nodiscard]] StragglerFacts stragglers_of(const JobRun& run, const CountedSteps& clock,
                                           const JobEdit& ideal, const WorkerGrid* grid);

} // namespace rankscope
