// Ranks that exceed their peers: one test for all commands that report slow or late ranks. A sample
// is the difference between a rank's value in one step and that of its peers in the same step.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The values of one rank, one value per step.
using StepSeries = std::vector<double>;

/// The median of all values except one.
class MedianOfOthers {
public:
  /// `values`: at least two.
  explicit MedianOfOthers(std::vector<double> values);
  /// Returns the median of all values except one value that is equal to `value`, which must exist.
  /// Example: 1 2 3 9 without 9 is 2.
  [[nodiscard]] double without(double value) const;

private:
  std::vector<double> sorted_;
};

/// Returns each rank's value minus the median of the other ranks' values in the same step. `steps`
/// contains, for each step, the values of all ranks. The result is indexed [rank][step]; it is
/// empty if there are fewer than two ranks.
[[nodiscard]] std::vector<StepSeries> against_peers(std::span<const std::vector<double>> steps);

/// Returns the mean of a rank's steps as the test computes it (trimmed if there are five steps or
/// more).
[[nodiscard]] double trimmed_mean_of(const StepSeries& values);

/// Returns the change per step of values that rise or fall over the steps: the slope of a
/// regression on the number of the step, if a two-sided t-test of the slope is significant: at 20 %
/// if the line changes by its mean or more (it may have begun at 0), else at 5 %. Values with a
/// trend do not predict other steps. Empty without a significant slope, and with
/// fewer than four values.
[[nodiscard]] std::optional<double> trend_of(const StepSeries& values);

/// The excess of one rank over its peers.
struct RankExcess {
  double excess = 0;     ///< 20 % trimmed mean over the steps; with fewer than five steps, the
                         ///< plain mean
  double half_width = 0; ///< half width of the interval of `excess`: 95 % for all ranks tested
                         ///< together (Bonferroni)
  double p = 1;          ///< one-sided p-value; null hypothesis: the rank does not exceed its peers
  std::size_t most = 0;  ///< number of steps in which this rank has the largest difference
  double mean = 0;       ///< plain mean of the differences in the steps
  double lowest = 0, highest = 0; ///< of the differences in the steps
  bool significant = false;
  /// Significant, but only for find_changing(): the excess is not in all steps.
  bool changing = false;
};

/// The test results of all ranks of one run.
struct RankTest {
  std::vector<RankExcess> ranks; ///< in the given order; empty if the test has no result
  std::size_t steps = 0;         ///< smallest number of samples of a rank
  double dependence = 0; ///< correlation of successive steps, pooled over all ranks of all runs
  /// Smallest excess of a rank with the usual scatter that this test finds with probability 0.95.
  double least_visible = 0;

  /// Returns whether the excess of a rank is large, but not significant, because the rank's
  /// differences scatter more than those of its peers. `least_visible` is not for such a rank.
  [[nodiscard]] bool is_unclear(const RankExcess& rank) const {
    return steps > 1 && !rank.significant && rank.excess > least_visible;
  }
};

/// The probability that a command reports a slow (or late) rank although no rank is slow (or late).
inline constexpr double kRankLevel = 0.005;
/// From this correlation of successive steps on, sentences mention it.
inline constexpr double kNotedDependence = 0.3;
/// The correlation that is assumed if there are too few steps to estimate it.
inline constexpr double kAssumedDependence = 0.5;
/// The upper limit of the correlation: at 1, the steps would contain no information.
inline constexpr double kMostDependence = 0.95;
/// Returns "; successive steps depend on each other (correlation 0.7)". If the correlation is
/// assumed, returns a text about too few steps; if it is low, "".
[[nodiscard]] std::string dependence_note(double dependence);
/// The fewest peers for a test of a single step. Such a test can only compare the rank with the
/// spread of its peers, and fewer peers do not show a spread.
inline constexpr std::size_t kFewestPeers = 8;

/// Tests every rank of every run at `level`, with Holm's procedure over all ranks of all runs.
/// `runs`: for each run the differences of its ranks to their peers, [rank][step]. A run has no
/// result if it has fewer than two ranks, if a rank has no step, or if a rank has only one step and
/// there are fewer than kFewestPeers peers. `resolution`: the resolution of the values, in their
/// unit; it is a lower bound of the standard deviation. `usual_spread`: standard deviation between
/// the means of ranks that count as equal; 0: estimated from the ranks alone.
/// - The variance of a rank is moderated by the variances of all ranks of the run (Smyth 2004):
///   with few steps, the variance comes mostly from the other ranks, but a noisier rank keeps a
///   larger variance. With fewer than eight steps, it is at least the mean variance of all ranks of
///   all runs.
/// - The lag-1 correlation of successive steps, over all runs, increases the standard error.
/// - The means of the peers may differ by more than their standard errors explain; this additional
///   spread increases the standard error of a rank too. With few ranks and many steps, it counts
///   only with a `usual_spread`, which is then added.
/// - For a single step, only the spread of the peers is known, and heavy tails are assumed.
[[nodiscard]] std::vector<RankTest> test_ranks(std::span<const std::vector<StepSeries>> runs,
                                               double resolution, double level = kRankLevel,
                                               double usual_spread = 0);

/// The probability that find_changing() reports a rank although no rank is slow (or late): just
/// above 2^-8, so eight large steps are enough.
inline constexpr double kChangingLevel = 0.004;

/// Finds ranks that are slow in many steps, but not in all, as on a GPU that throttles. The scatter
/// in test_ranks() includes the change itself, and hides it. A step is large if its difference from
/// zero is more than four standard deviations (MAD) of the peers' steps. A rank is found if it has
/// large excesses in half of its steps, and if the number of these is significant at
/// kChangingLevel over all ranks of all runs in two binomial tests:
/// - of the large steps, about half would be below zero if the rank's noise were only larger. Ranks
///   with fewer than eight large steps cannot be found, and do not count in Bonferroni's correction
///   (Tarone 1990);
/// - the steps of the peers would have as many large excesses if this were the noise of all ranks.
/// Found ranks become significant; their excess is then the plain mean over the steps.
/// `tests`: results of test_ranks() for `runs`. `resolution`: as for test_ranks().
void find_changing(std::span<const std::vector<StepSeries>> runs, double resolution,
                   std::vector<RankTest>& tests);

/// Returns the lag-1 correlation of successive samples, pooled over series of equal or different
/// lengths, with weights in proportion to their lengths. The bias from subtracting the mean, (1 + 3
/// r) / n, is corrected. Returns 0 if no series has scatter.
[[nodiscard]] double lag1_correlation(std::span<const StepSeries> series);
/// Returns lag1_correlation() limited to the range 0 to kMostDependence. Returns kAssumedDependence
/// if there are fewer than 24 samples in total, or if a series has fewer than four.
[[nodiscard]] double lag1_dependence(std::span<const StepSeries> series);

/// Returns the number of independent samples that contain the same information as `n` dependent
/// samples: n (1 - rho) / (1 + rho), at least 2.
[[nodiscard]] double independent_samples(double n, double rho);

} // namespace rankscope
