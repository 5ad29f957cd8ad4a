// What the steps of a sweep can tell: which configurations differ beyond noise, which rank computes
// longer than the others, whether the others wait for it. One sample is one profiler step.
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/statistics.h"

#include <optional>
#include <vector>

namespace rankscope {

/// Milliseconds of each step that all ranks of the configuration have, mean over the ranks; in the
/// order of the first rank's steps.
[[nodiscard]] std::vector<double> step_means_ms(const ConfigurationRanks& group, TimeKind kind);

/// A configuration against the best one.
struct AgainstBest {
  const ConfigurationRanks* group = nullptr;
  double mean_ms = 0;        ///< of its steps
  MeanDifference difference; ///< to the best, milliseconds a step
  [[nodiscard]] bool told() const { return difference.difference - difference.half_width > 0; }
};

/// Configurations by their steps. Intervals are Welch's at a level corrected for all pairs (the
/// best one is chosen by the same data) in both rankings of a summary.
struct StepRanking {
  const ConfigurationRanks* best = nullptr;
  double best_ms = 0;              ///< mean of its steps
  std::size_t steps = 0;           ///< least number of samples of a configuration
  std::size_t comparisons = 0;     ///< that the level is corrected for
  std::vector<AgainstBest> others; ///< by mean, ascending

  /// The best is told from every other configuration.
  [[nodiscard]] bool winner() const;
};
/// By the mean of `kind`, lowest first. None with fewer than two configurations that have GPU work,
/// or when one of those has fewer than two steps: noise is then unknown.
[[nodiscard]] std::optional<StepRanking>
rank_by_steps(const std::vector<ConfigurationRanks>& groups, TimeKind kind);

/// Two sweeps by the configurations that both have, found by their labels.
struct SweepDifference {
  std::size_t shared = 0;          ///< such configurations with GPU work in both
  std::size_t steps = 0;           ///< least number of samples of one of them
  double base_ms = 0, test_ms = 0; ///< mean over them, of their steps or without steps of the ranks
  /// test_ms - base_ms, Welch over all of them at the level `alpha`; none where one of them has
  /// fewer than two steps.
  std::optional<MeanDifference> difference;
};
[[nodiscard]] SweepDifference compare_sweeps(const std::vector<ConfigurationRanks>& base,
                                             const std::vector<ConfigurationRanks>& test,
                                             TimeKind kind, double alpha);

/// A rank that computes longer than the mean of the others, beyond noise.
struct SlowRank {
  const ConfigurationRanks* group = nullptr;
  std::int64_t rank = 0;
  MeanDifference excess; ///< compute time over the others' mean, milliseconds a step
  double percent = 0;    ///< of the others' mean
  /// How much longer than this rank the others stand in exposed collectives, milliseconds a step:
  /// told only when its interval leaves 0 out and it is the excess within half of that.
  std::optional<MeanDifference> waited;
};
struct SlowRanks {
  std::vector<SlowRank> told;
  std::size_t tested = 0; ///< configurations with at least two ranks and two steps
};
/// The slowest rank of each configuration, where it is told from the others. The interval is of the
/// differences step by step (paired), its level corrected for every rank of every configuration; an
/// excess below a quarter of a percent is not told, devices of one model differ by as much.
[[nodiscard]] SlowRanks slow_ranks(const std::vector<ConfigurationRanks>& groups);

} // namespace rankscope
