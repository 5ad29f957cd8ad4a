// Explains, from the calls of its ranks, why a configuration computes longer. Possible causes:
// GEMMs that slow down under collectives (contention), or calls that are slower also without
// overlap (clock, scale).
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/statistics.h"

#include <optional>

namespace rankscope {

/// An effect with the data that its interval needs.
struct Estimate {
  double value = 0;
  double variance = 0; ///< variance of the estimate
  double degrees = 0;  ///< degrees of freedom
  std::size_t calls = 0;

  /// Returns the value with the half width of its interval.
  [[nodiscard]] MeanDifference interval(double alpha) const;
};
/// Returns test - base for two independent estimates; degrees of freedom by Satterthwaite.
[[nodiscard]] Estimate operator-(const Estimate& test, const Estimate& base);

/// Returns the relative increase in the duration of a GEMM call when collectives overlap all of it.
/// The base is the duration of calls of the same shape without overlap: 0.2 is 20 %. The estimate
/// is a least-squares slope of speed (1 / duration) on the overlapped share, with a separate level
/// for each shape and rank. Speed is linear in the share if overlapped work advances at a constant
/// lower speed; duration is not. The variance comes from the sums over each block of steps of each
/// rank, so that calls of one step need not be independent (Liang and Zeger 1986). nullopt if no
/// shape has calls with and without overlap, or with a single block: one step does not show which
/// calls are longer because of their place in the step.
[[nodiscard]] std::optional<Estimate> contention_of(const ConfigurationRanks& group);

/// Returns the relative increase in the duration of calls without overlap from `base` to `test`:
/// 0.05 is 5 %. Each rank in both is compared with its mean durations in `base`. Takes the median
/// over the ranks for each block of steps, because one slow rank does not make a slow
/// configuration. Then applies Welch's test to the blocks. nullopt without calls of the same shape
/// or with fewer than two blocks.
[[nodiscard]] std::optional<Estimate> alone_factor(const ConfigurationRanks& base,
                                                   const ConfigurationRanks& test, bool gemm);

/// One configuration that computes longer than another, with the checks for each possible cause.
struct Cause {
  const ConfigurationRanks* base = nullptr;
  const ConfigurationRanks* test = nullptr;
  MeanDifference longer; ///< computation, ms per step
  double alpha = 0.05;   ///< level of each interval below, corrected for all intervals
  std::optional<Estimate> base_contention, test_contention;
  std::optional<Estimate> gemms_alone, others_alone; ///< alone_factor()

  /// Returns test_contention - base_contention.
  [[nodiscard]] std::optional<Estimate> more_contention() const;
  /// Returns true if GEMMs and other calls are both slower without overlap, with no significant
  /// difference between them.
  [[nodiscard]] bool general() const;
  /// Returns true if the interval of the effect is above kLeastSlowdown.
  [[nodiscard]] bool is_slowdown(const std::optional<Estimate>& effect) const;
};
/// Returns the cause without `longer`, which the caller sets.
[[nodiscard]] Cause cause_of(const ConfigurationRanks& base, const ConfigurationRanks& test,
                             double alpha);

/// The smallest slowdown that is reported. Overlapped shares of calls come from noisy durations,
/// and this noise alone can look like a slowdown of up to about 0.1 %.
inline constexpr double kLeastSlowdown = 0.0025;

} // namespace rankscope
