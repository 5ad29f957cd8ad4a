// Change points of a series: places where its mean steps from one level to another. A step counts
// only if it is larger than a random order of the values would show.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rankscope {

struct ChangePoint {
  std::size_t at = 0; ///< index of the first value of the new level
  double p = 1;       ///< p-value of the permutation test that found it
};

/// Binary segmentation (Scott and Knott 1974, Vostrikova 1981) with a permutation test (Antoch and
/// Huskova 2001). A segment is split where |S_k - k S_n / n| / sqrt(k (n - k) / n) is largest. S_k
/// is the sum of the first k values, and no part is shorter than kLeastSegment. The split is a
/// change point when at most `alpha` of the permutations of the segment have as large a maximum.
/// Both parts are then searched too. Each split is tested again between its final neighbours and
/// dropped when a later split makes it needless. In a series without a change, a change point is
/// found with probability `alpha` at most. The permutations use a fixed seed: equal values give
/// equal results. Returns ascending places. Values must be finite. O(n) for each of at most 9999
/// permutations of a segment. Example: 1 2 1 2 1 2 9 8 9 8 9 8 changes at 6.
[[nodiscard]] std::vector<ChangePoint> change_points(std::span<const double> values, double alpha);

inline constexpr std::size_t kLeastSegment = 3; ///< one outlier is not a level

/// Returns the fewest values in which the test can find a change: 2 k! (n - k)! / n! <= alpha, the
/// fraction of orders that separate two levels as far. Example: 0.05 needs 8 (2 of 70 orders).
[[nodiscard]] std::size_t least_values_for(double alpha);

} // namespace rankscope
