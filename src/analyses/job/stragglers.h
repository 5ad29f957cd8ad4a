// How much of a step's time stragglers cost, and which (docs/whatif.md): the step with every
// activity at its usual duration against the measured step. Definitions of "Understanding
// Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025, arXiv 2505.05713).
#pragma once

#include "analyses/job/path_rows.h"
#include "analyses/job/pipeline_run.h"
#include "analyses/job/places.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

enum class StragglerGroup : std::uint8_t { kOperator, kRank, kDataParallel, kStage };
/// "operator", "rank", "dp-rank", "stage": stable.
[[nodiscard]] std::string_view straggler_group_name(StragglerGroup group);

/// The ideal run, but with the measured durations of a group.
struct StragglerShare {
  StragglerGroup of = StragglerGroup::kOperator;
  std::string name;
  double slowdown = 1;           ///< its mean step over that of the ideal run
  double cost_ms = 0;            ///< of a step
  std::vector<double> step_slow; ///< by counted step
};

/// What of the slowdown some activities explain.
struct StragglerEffect {
  std::vector<std::int64_t> ranks; ///< whose activities they are
  double removed = 0;              ///< 1: without stragglers once these have their usual durations
  double added = 0;                ///< the same, seen from the ideal run
  double gain_ms = 0;              ///< of a step, when these have their usual durations
  /// Interval of the gain over the steps, 95 % for all ranks or stages that were to be chosen from.
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
  double ideal_ms = 0;          ///< and every activity with its usual duration
  std::vector<StragglerStep> steps;
  std::vector<StragglerShare> shares;                     ///< most first within each group
  std::size_t ranks_left_out = 0, operators_left_out = 0; ///< shares that were not computed
  std::optional<StragglerEffect> worst_ranks; ///< the 3 % with the largest slowdown: M_W
  std::optional<StragglerEffect> last_stage;  ///< M_S

  [[nodiscard]] double slowdown() const { return ideal_ms > 0 ? without_delays_ms / ideal_ms : 1; }
  [[nodiscard]] double delay_slowdown() const {
    return without_delays_ms > 0 ? measured_ms / without_delays_ms : 1;
  }
};

/// Every activity with its usual duration, without delays: the mean of its place, of communication
/// the median.
[[nodiscard]] JobEdit ideal_edit(const JobRun& run, const RunPlaces& places);

/// `ideal`: ideal_edit(). `grid`: of a pipeline-parallel job; nullptr: ranks are compared by
/// themselves. Of more than 64 ranks or operators, those with the most time above the usual one.
/// One replay for each share: O(nodes * shares).
[[nodiscard]] StragglerFacts stragglers_of(const JobRun& run, const CountedSteps& clock,
                                           const JobEdit& ideal, const WorkerGrid* grid);

} // namespace rankscope
