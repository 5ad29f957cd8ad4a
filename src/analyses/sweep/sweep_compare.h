// Compares the steps of a sweep: configurations that differ beyond noise, ranks that compute longer
// than other ranks, and whether the other ranks wait for them. One sample is one profiler step.
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/rank_excess.h"
#include "base/statistics.h"

#include <optional>
#include <vector>

namespace rankscope {

/// Returns the times of the steps that all ranks have, in milliseconds, as [step][rank].
[[nodiscard]] std::vector<std::vector<double>> common_steps(const ConfigurationRanks& group,
                                                            TimeKind kind);
/// Returns the mean over the ranks for each step that all ranks of the configuration have, in
/// milliseconds; in the order of the first rank's steps.
[[nodiscard]] std::vector<double> step_means_ms(const ConfigurationRanks& group, TimeKind kind);

/// A step in which one rank is far slower (or faster) than in its other steps, such as a step with
/// a checkpoint.
struct OutlyingStep {
  const ConfigurationRanks* group = nullptr;
  std::int64_t step = 0, rank = 0;
  double more_ms = 0; ///< difference to the rank's median step
};
/// Returns steps whose total time differs from the median of a rank by more than six robust
/// standard deviations and 1 %. The deviation is the rank's, or the median over all ranks if that
/// is larger. Empty if a configuration has fewer than five steps, or more than one such step per
/// twenty steps (one step is always allowed): so many steps are another mode of the GPU, not
/// exceptions.
[[nodiscard]] std::vector<OutlyingStep>
outlying_steps(const std::vector<ConfigurationRanks>& groups);

/// A configuration compared with the best one.
struct AgainstBest {
  const ConfigurationRanks* group = nullptr;
  double mean_ms = 0;        ///< mean of its steps
  MeanDifference difference; ///< difference to the best, ms per step
  [[nodiscard]] bool significant() const {
    return difference.difference - difference.half_width > 0;
  }
};

/// Two configurations that differ significantly.
struct DifferentPair {
  const ConfigurationRanks* fast = nullptr;
  const ConfigurationRanks* slow = nullptr;
  MeanDifference difference; ///< slow - fast, ms per step
};

/// Configurations ranked by their steps without outlying_steps(). The intervals are Welch's,
/// widened by the correlation of successive steps. Their level is corrected for all pairs in all
/// rankings of a summary, because the same data select the best configuration. The intervals do not
/// include the variation between two runs of one configuration.
struct StepRanking {
  const ConfigurationRanks* best = nullptr;
  double best_ms = 0;              ///< mean of its steps
  std::size_t steps = 0;           ///< smallest number of samples of a configuration
  std::size_t comparisons = 0;     ///< number of comparisons that the level is corrected for
  double dependence = 0;           ///< correlation of successive steps, over all configurations
  std::vector<AgainstBest> others; ///< ordered by mean, ascending
  std::vector<OutlyingStep> left_out;
  /// The most different two of the configurations that do not differ significantly from the best:
  /// if the best varies much, they can differ from each other.
  std::optional<DifferentPair> pair;

  /// Returns true if the best differs significantly from every other configuration.
  [[nodiscard]] bool winner() const;
};
/// Returns the configurations by the mean of `kind`, lowest first. nullopt with fewer than two
/// configurations with GPU work, or if one of these has fewer than three steps (with fewer, the
/// noise is unknown), or if only some contain the idle time between the steps and `kind` contains
/// it.
[[nodiscard]] std::optional<StepRanking>
rank_by_steps(const std::vector<ConfigurationRanks>& groups, TimeKind kind);

/// Returns the correlation of successive steps of two sweeps, over all their configurations. A
/// value is assumed if no configuration has four steps.
[[nodiscard]] double sweep_correlation(const std::vector<ConfigurationRanks>& base,
                                       const std::vector<ConfigurationRanks>& test, TimeKind kind);

/// Two sweeps compared by the configurations that both contain. Labels identify configurations.
struct SweepDifference {
  std::size_t shared = 0; ///< configurations with GPU work in both sweeps
  std::size_t steps = 0;  ///< smallest number of samples of a shared configuration
  /// Mean over the shared configurations, from their steps or else their ranks.
  double base_ms = 0, test_ms = 0;
  /// test_ms - base_ms, by Welch over all shared configurations at the level `alpha`; their steps
  /// are correlated by `correlation`. nullopt under the conditions of rank_by_steps().
  std::optional<MeanDifference> difference;
};
[[nodiscard]] SweepDifference compare_sweeps(const std::vector<ConfigurationRanks>& base,
                                             const std::vector<ConfigurationRanks>& test,
                                             TimeKind kind, double correlation, double alpha);

/// Returns the computation of a configuration minus that of the best, ms per step, at the level of
/// a ranking.
[[nodiscard]] std::optional<MeanDifference> computes_longer(const StepRanking& ranking,
                                                            const ConfigurationRanks& test);

/// A rank that computes longer than its peers (base/rank_excess.h), with its other differences.
struct SlowRank {
  const ConfigurationRanks* group = nullptr;
  std::int64_t rank = 0;
  RankExcess excess;  ///< compute time, ms per step
  double percent = 0; ///< excess as a percentage of the others' mean
  /// The additional duration of the peers' collectives because they wait for this rank, ms per
  /// step. Set only if the interval is above 0 and the peers' exposed time differs by about the
  /// excess. A kernel that overlaps a collective changes exposed time although no rank waits.
  std::optional<MeanDifference> waited;
  double more_gemms = 0; ///< GEMM kernels per step above the median of its peers
};
/// A configuration whose ranks were tested.
struct TestedRanks {
  const ConfigurationRanks* group = nullptr;
  RankTest test; ///< result of the test, with empty `ranks`
  double mean_ms = 0;
};
struct SlowRanks {
  std::vector<SlowRank> ranks;   ///< ordered by configuration, then by rank
  std::vector<SlowRank> unclear; ///< RankTest::is_unclear(); only the excess is set
  std::vector<TestedRanks> tested;
  std::size_t too_few = 0; ///< number of ranks whose single step cannot be tested, because there
                           ///< are fewer than kFewestPeers peers; the largest configuration
};
/// Smallest excess, in percent, for which a rank is named. Devices of one model differ by up to
/// about this much without any fault.
inline constexpr double kDeviceSpreadPercent = 0.25;
/// Returns every rank of every configuration that computes longer than its peers beyond noise.
[[nodiscard]] SlowRanks slow_ranks(const std::vector<ConfigurationRanks>& groups);

/// Returns true if the steps of two configurations contain different GEMMs. More than half of the
/// calls of `a` have shapes that `b` does not have, or the calls per step of shared shapes differ
/// by more than 5 %. False if shapes are not recorded.
[[nodiscard]] bool work_differs(const ConfigurationRanks& a, const ConfigurationRanks& b);

} // namespace rankscope
