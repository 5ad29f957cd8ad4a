// Explains why a configuration computes longer, from the calls of its ranks: GEMMs that slow down
// under collectives (contention), or calls that are slower also without overlap (clock, scale).
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/statistics.h"

#include <optional>

namespace rankscope {

/// An effect with the data for its interval.
struct Estimate {
  double value = 0;
  double variance = 0; ///< of the estimate
  double degrees = 0;  ///< of freedom
  std::size_t calls = 0;

  /// value with the half width of its interval.
  [[nodiscard]] MeanDifference interval(double alpha) const;
};
/// test - base, independent of each other; degrees by Satterthwaite.
[[nodiscard]] Estimate operator-(const Estimate& test, const Estimate& base);

/// Returns how much longer a GEMM call takes when collectives overlap all of it: 0.2 = 20 % of the
/// duration of calls of the same shape without overlap. One least-squares slope of duration on the
/// overlapped share, with a separate level for each shape of each rank. The variance comes from the
/// sums over each block of steps of each rank, so that calls of one step need not be independent
/// (Liang and Zeger 1986). nullopt if no shape has both kinds of calls, or with fewer than two
/// blocks.
[[nodiscard]] std::optional<Estimate> contention_of(const ConfigurationRanks& group);

/// Returns how much longer calls without overlap take in `test` than in `base`: 0.05 = 5 %. Each
/// rank in both is compared with its mean durations in `base`. Takes the median over the ranks for
/// each block of steps (one slow rank does not make a slow configuration); then Welch over the
/// blocks. nullopt without calls of the same shape or with fewer than two blocks.
[[nodiscard]] std::optional<Estimate> alone_factor(const ConfigurationRanks& base,
                                                   const ConfigurationRanks& test, bool gemm);

/// One configuration that computes longer than another, with the checks for each possible cause.
struct Cause {
  const ConfigurationRanks* base = nullptr;
  const ConfigurationRanks* test = nullptr;
  MeanDifference longer; ///< computation, ms per step
  double alpha = 0.05;   ///< of each interval below, corrected for all of them
  std::optional<Estimate> base_contention, test_contention;
  std::optional<Estimate> gemms_alone, others_alone; ///< alone_factor()

  /// test_contention - base_contention.
  [[nodiscard]] std::optional<Estimate> more_contention() const;
  /// True if both kinds of calls are slower without overlap, with no significant difference.
  [[nodiscard]] bool general() const;
  /// True if the interval of the effect is above kLeastSlowdown.
  [[nodiscard]] bool told(const std::optional<Estimate>& effect) const;
};
/// `longer` is left to the caller.
[[nodiscard]] Cause cause_of(const ConfigurationRanks& base, const ConfigurationRanks& test,
                             double alpha);

/// Smaller slow-downs are not reported: overlapped shares of calls come from durations with noise,
/// which alone causes up to about a tenth of a percent.
inline constexpr double kLeastSlowdown = 0.0025;

} // namespace rankscope
