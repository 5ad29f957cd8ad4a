// Compares the steps of a sweep: which configurations differ beyond noise, which rank computes
// longer than the others, whether the others wait for it. One sample is one profiler step.
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/rank_excess.h"
#include "base/statistics.h"

#include <optional>
#include <vector>

namespace rankscope {

/// Milliseconds of the steps that all ranks have, [step][rank].
[[nodiscard]] std::vector<std::vector<double>> common_steps(const ConfigurationRanks& group,
                                                            TimeKind kind);
/// Milliseconds of each step that all ranks of the configuration have, mean over the ranks; in the
/// order of the first rank's steps.
[[nodiscard]] std::vector<double> step_means_ms(const ConfigurationRanks& group, TimeKind kind);

/// A step that one rank makes longer (or shorter) by far than its other steps, such as one with a
/// checkpoint.
struct OutlyingStep {
  const ConfigurationRanks* group = nullptr;
  std::int64_t step = 0, rank = 0;
  double more_ms = 0; ///< than the median step of that rank
};
/// Steps whose total time is six robust standard deviations and 1 % from the median of a rank (its
/// own deviation, or the median of all ranks where that is larger). Empty where a configuration has
/// fewer than five steps, or more than one such step in twenty (one of fewer): another mode is not
/// an exception.
[[nodiscard]] std::vector<OutlyingStep>
outlying_steps(const std::vector<ConfigurationRanks>& groups);

/// A configuration against the best one.
struct AgainstBest {
  const ConfigurationRanks* group = nullptr;
  double mean_ms = 0;        ///< of its steps
  MeanDifference difference; ///< to the best, ms per step
  [[nodiscard]] bool told() const { return difference.difference - difference.half_width > 0; }
};

/// Configurations by their steps without outlying_steps(). Intervals are Welch's, widened by the
/// correlation of successive steps, at a level corrected for all pairs (the same data choose the
/// best one) in both rankings of a summary. They do not include the variation between two runs of
/// one configuration.
struct StepRanking {
  const ConfigurationRanks* best = nullptr;
  double best_ms = 0;              ///< mean of its steps
  std::size_t steps = 0;           ///< fewest samples of a configuration
  std::size_t comparisons = 0;     ///< that the level is corrected for
  double dependence = 0;           ///< correlation of successive steps, over all configurations
  std::vector<AgainstBest> others; ///< by mean, ascending
  std::vector<OutlyingStep> left_out;

  /// True if the best differs significantly from every other configuration.
  [[nodiscard]] bool winner() const;
};
/// By the mean of `kind`, lowest first. nullopt with fewer than two configurations with GPU work,
/// or when one of those has fewer than three steps: noise is then unknown.
[[nodiscard]] std::optional<StepRanking>
rank_by_steps(const std::vector<ConfigurationRanks>& groups, TimeKind kind);

/// The correlation of successive steps of two sweeps, over all their configurations; assumed where
/// none has four steps.
[[nodiscard]] double sweep_correlation(const std::vector<ConfigurationRanks>& base,
                                       const std::vector<ConfigurationRanks>& test, TimeKind kind);

/// Two sweeps by the configurations that both have, found by their labels.
struct SweepDifference {
  std::size_t shared = 0;          ///< such configurations with GPU work in both
  std::size_t steps = 0;           ///< least number of samples of one of them
  double base_ms = 0, test_ms = 0; ///< mean over them, of their steps or without steps of the ranks
  /// test_ms - base_ms, Welch over all of them at the level `alpha`, their steps correlated by
  /// `correlation`; none where one of them has fewer than three steps.
  std::optional<MeanDifference> difference;
};
[[nodiscard]] SweepDifference compare_sweeps(const std::vector<ConfigurationRanks>& base,
                                             const std::vector<ConfigurationRanks>& test,
                                             TimeKind kind, double correlation, double alpha);

/// Computation of a configuration against the best, ms per step; at the level of a ranking.
[[nodiscard]] std::optional<MeanDifference> computes_longer(const StepRanking& ranking,
                                                            const ConfigurationRanks& test);

/// A rank that computes longer than its peers (base/rank_excess.h), with what else differs.
struct SlowRank {
  const ConfigurationRanks* group = nullptr;
  std::int64_t rank = 0;
  RankExcess excess;  ///< compute time, ms per step
  double percent = 0; ///< of the others' mean
  /// How much longer the collectives of its peers last because they wait for it, ms per step. Set
  /// only when the interval is above 0 and the peers' exposed time differs by about the excess: a
  /// kernel that overlaps a collective changes exposed time although no rank waits.
  std::optional<MeanDifference> waited;
  double more_gemms = 0;   ///< GEMM kernels per step above the median of its peers
  double gemm_percent = 0; ///< how much longer its GEMM kernels take than its peers', by name
};
/// A configuration whose ranks were tested.
struct TestedRanks {
  const ConfigurationRanks* group = nullptr;
  RankTest test; ///< without its ranks
  double mean_ms = 0;
};
struct SlowRanks {
  std::vector<SlowRank> told; ///< by configuration, then rank
  std::vector<TestedRanks> tested;
};
/// Devices of one model differ by up to about this much (percent) without anything wrong: a rank
/// whose excess is smaller is not named.
inline constexpr double kDeviceSpreadPercent = 0.25;
/// Every rank of every configuration that computes longer than its peers beyond noise.
[[nodiscard]] SlowRanks slow_ranks(const std::vector<ConfigurationRanks>& groups);

/// True if the steps of two configurations contain different GEMMs: more than half of the calls of
/// `a` have shapes that `b` does not have, or the calls per step of shared shapes differ by more
/// than 5 %. False where shapes are not recorded.
[[nodiscard]] bool work_differs(const ConfigurationRanks& a, const ConfigurationRanks& b);

} // namespace rankscope
