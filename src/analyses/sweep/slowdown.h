// Why a configuration computes longer, from the calls of its ranks: GEMMs that slow down beside
// collectives (contention), or calls that are slower also where no collective runs (clock, scale).
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/statistics.h"

#include <optional>

namespace rankscope {

/// An effect with what its interval needs.
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

/// How much longer a GEMM call takes when collectives overlap all of it: 0.2 = 20 % of what calls
/// of the same shape take that no collective touches. One least-squares slope of duration on the
/// overlapped share, with a level of its own for each shape of each rank; the variance is of the
/// sums over each block of steps of each rank, so that calls of one step need not be independent
/// (Liang and Zeger 1986). None where no shape has both kinds of calls, or with fewer than two
/// blocks.
[[nodiscard]] std::optional<Estimate> contention_of(const ConfigurationRanks& group);

/// How much longer calls that no collective touches take in `test` than in `base`: 0.05 = 5 %. For
/// each block of steps the median over the ranks that both have, each rank against its own mean
/// durations in `base`; then Welch over the blocks. The median, because one slow rank is no slow
/// configuration. None without calls of the same shape or with fewer than two blocks.
[[nodiscard]] std::optional<Estimate> alone_factor(const ConfigurationRanks& base,
                                                   const ConfigurationRanks& test, bool gemm);

/// One configuration that computes longer than another, with every check of why.
struct Cause {
  const ConfigurationRanks* base = nullptr;
  const ConfigurationRanks* test = nullptr;
  MeanDifference longer; ///< computation, milliseconds a step
  double alpha = 0.05;   ///< of each interval below, corrected for all of them
  std::optional<Estimate> base_contention, test_contention;
  std::optional<Estimate> gemms_alone, others_alone; ///< alone_factor()

  /// test_contention - base_contention.
  [[nodiscard]] std::optional<Estimate> more_contention() const;
  /// Both kinds of calls are slower without overlap, by factors that cannot be told apart.
  [[nodiscard]] bool general() const;
  /// The effect is told from 0 and worth naming.
  [[nodiscard]] bool told(const std::optional<Estimate>& effect) const;
};
/// `longer` is left to the caller.
[[nodiscard]] Cause cause_of(const ConfigurationRanks& base, const ConfigurationRanks& test,
                             double alpha);

/// Below this a slow-down is not named: shares of calls are taken of durations that have noise
/// themselves, which makes up to about a tenth of a percent of it.
inline constexpr double kLeastSlowdown = 0.0025;

} // namespace rankscope
