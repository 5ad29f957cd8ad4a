// Change points of a series: positions at which the mean changes from one level to another. A
// change is reported only if random orders of the same values rarely show one as large.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rankscope {

struct ChangePoint {
  std::size_t at = 0; ///< index of the first value of the new level
  double p = 1;       ///< p-value of the permutation test that found it
};

/// Finds change points by binary segmentation (Scott and Knott 1974, Vostrikova 1981) with a
/// permutation test (Antoch and Huskova 2001). A segment of n values is split at the k with the
/// largest |S_k - k S_n / n| / sqrt(k (n - k) / n). S_k is the sum of the first k values, and no
/// part is shorter than kLeastSegment. The split is a change point if at most a fraction of 0.8
/// `alpha` of random permutations of the segment has a maximum at least as large. A level that
/// returns to the former one has no such split, so the same test with 0.2 `alpha` then searches the
/// inner part with the largest such difference (Olshen et al. 2004). All parts are searched in the
/// same way. At the end, each change point is tested again, as a split with `alpha`, in the segment
/// between the two neighbouring ones, and is removed if it is not significant there. In a series
/// without a change, a change point is found with probability `alpha` at most. The permutations use
/// a fixed seed: equal values give equal results. Returns the change points in ascending order.
/// Values must be finite. O(n + min(n^2, 2^16 + 64 n)) for each of at most 9999 permutations of a
/// segment. Example: 1 2 1 2 1 2 9 8 9 8 9 8 changes at 6.
[[nodiscard]] std::vector<ChangePoint> change_points(std::span<const double> values, double alpha);

inline constexpr std::size_t kLeastSegment = 3; ///< so that one outlier is not a level

/// Returns the smallest n for which the test can find a change. Of all orders of n values with two
/// levels of n / 2 values, two separate the levels completely; their fraction must be at most 0.8
/// `alpha`: 2 k! (n - k)! / n! <= 0.8 alpha with k = n / 2. Example: 0.05 needs 8 (2 of 70 orders).
[[nodiscard]] std::size_t least_values_for(double alpha);

} // namespace rankscope
