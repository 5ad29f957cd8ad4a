// Ranks that exceed their peers: one estimator for every command that reports slow or late ranks. A
// sample is one step of one rank, as a difference to its peers in the same step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The values of one rank, one per step.
using StepSeries = std::vector<double>;

/// The median of all values except one.
class MedianOfOthers {
public:
  /// `values`: at least two.
  explicit MedianOfOthers(std::vector<double> values);
  /// Returns the median without one value that equals `own`, which must be present. Example: 1 2 3
  /// 9 without 9 is 2.
  [[nodiscard]] double without(double own) const;

private:
  std::vector<double> sorted_;
};

/// Returns each rank's value minus the median of the other ranks' values in the same step. `steps`:
/// for each step the values of all ranks. The result is [rank][step]; empty with fewer than two
/// ranks.
[[nodiscard]] std::vector<StepSeries> against_peers(std::span<const std::vector<double>> steps);

/// Returns the mean of a rank's steps that the test uses.
[[nodiscard]] double trimmed_mean_of(const StepSeries& values);

/// The excess of one rank over its peers.
struct RankExcess {
  double excess = 0;     ///< 20 % trimmed mean over the steps; plain below five steps
  double half_width = 0; ///< of the excess, 95 % over all ranks tested (Bonferroni)
  double p = 1;          ///< one-sided; the hypothesis is that the rank does not exceed its peers
  std::size_t most = 0;  ///< steps in which no other rank has as large a difference
  bool significant = false;
};

/// The test results of all ranks of one run.
struct RankTest {
  std::vector<RankExcess> ranks; ///< in the given order; empty where the test has no result
  std::size_t steps = 0;         ///< smallest number of samples of a rank
  double dependence = 0; ///< correlation of successive steps, pooled over all ranks of all runs
  /// Smallest excess of one rank that this test finds with probability 0.95.
  double least_visible = 0;
};

/// The chance that a command reports a slow (or late) rank when no rank is slow (or late).
inline constexpr double kRankLevel = 0.005;
/// The correlation of successive steps from which sentences name it.
inline constexpr double kNotedDependence = 0.3;
/// The correlation assumed where there are too few steps to estimate it.
inline constexpr double kAssumedDependence = 0.5;
/// The upper bound: steps with a higher correlation would carry no information.
inline constexpr double kMostDependence = 0.95;
/// Returns "; successive steps depend on each other (correlation 0.7)", a text that says that the
/// correlation is assumed, or "".
[[nodiscard]] std::string dependence_note(double dependence);
/// The fewest peers for a test of a single step, which can only compare ranks with each other.
/// Fewer peers give no spread to compare with.
inline constexpr std::size_t kFewestPeers = 8;

/// Tests every rank of every run with Holm's procedure over all of them at `level`. `runs`: for
/// each run the differences of its ranks to their peers, [rank][step]. A run has no result when a
/// rank has no step, or when each rank has one step and there are fewer than kFewestPeers peers.
/// `resolution`: of the values; no standard deviation is below that of rounding to it.
/// - The variance of a rank is moderated by those of all ranks of the run (Smyth 2004). With few
///   steps, the noise of many ranks counts, but a noisier rank stays noisy. With fewer than eight
///   steps, it is at least the mean variance of all ranks of all runs.
/// - The standard error is widened by the lag-1 correlation of successive steps, over all runs.
/// - A rank must also exceed the spread that the means of its peers have beyond that error.
/// - For a single step, only that spread is known, and heavy tails are assumed.
[[nodiscard]] std::vector<RankTest> test_ranks(std::span<const std::vector<StepSeries>> runs,
                                               double resolution, double level = kRankLevel);

/// Returns the lag-1 correlation of successive samples, pooled over series of equal or different
/// lengths. Each series has the same weight. The bias of taking the means, (1 + 3 r) / n, is
/// corrected. 0 without scatter.
[[nodiscard]] double lag1_correlation(std::span<const StepSeries> series);
/// Returns lag1_correlation() limited to 0 to kMostDependence. With fewer than 24 samples in total,
/// or series of fewer than four: kAssumedDependence.
[[nodiscard]] double lag1_dependence(std::span<const StepSeries> series);

/// Returns the number of independent samples with the same information as `n` dependent ones: n (1
/// - rho) / (1 + rho), at least 2.
[[nodiscard]] double independent_samples(double n, double rho);

} // namespace rankscope
