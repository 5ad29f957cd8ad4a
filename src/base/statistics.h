// Statistics: quantiles, boxes, densities, significance of differences, and the sign of an
// improvement. All layers use these definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// Represents a missing value.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns a quantile by linear interpolation between the order statistics (type 7 of Hyndman and
/// Fan 1996). `sorted` is ascending and not empty; q is from 0 to 1. Example: 0.25 of 1 2 3 4 is
/// 1.75.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);
/// Returns quantile() of values in any order; NaN for an empty list. O(n log n).
[[nodiscard]] double quantile_of(std::vector<double> values, double q);

struct RobustSpread {
  double median = 0;
  double deviation = 0; ///< 1.4826 times the median absolute deviation: the standard deviation, if
                        ///< the distribution is normal
};
/// Returns NaN for an empty list. O(n log n).
[[nodiscard]] RobustSpread robust_spread(std::vector<double> values);

struct SampleStats {
  std::size_t n = 0;
  double mean = 0;
  double variance = 0; ///< of the sample (n - 1); 0 for fewer than two values
};
[[nodiscard]] SampleStats sample_stats(const std::vector<double>& values);

/// Quartiles as in quantile(). The whiskers `low` and `high` are the last samples within 1.5
/// interquartile ranges of the quartiles (Tukey). Example: 1 2 3 4 100: q1 2, median 3, q3 4,
/// whiskers 1 and 4, outlier 100.
struct BoxStats {
  double q1 = 0, median = 0, q3 = 0, low = 0, high = 0, mean = 0;
  std::vector<double> outliers;
};
/// Returns zeros for an empty list.
[[nodiscard]] BoxStats box_stats(std::vector<double> values);

/// Returns the Gaussian kernel density with Scott's bandwidth at `count` points from minimum to
/// maximum. Empty for fewer than two distinct values.
[[nodiscard]] std::vector<std::pair<double, double>>
kernel_density(const std::vector<double>& values, int count = 100);

/// Returns the two-sided quantile of Student's t: |t| exceeds it with probability `alpha` (0 <
/// alpha < 1). `degrees` may be fractional and count as at least 1. Solved by Newton's method; the
/// tail is the regularized incomplete beta function. Examples: (4, 0.05) 2.776, (10, 0.01) 3.169.
[[nodiscard]] double student_t(double degrees, double alpha);
/// Returns student_t() at 0.05; `degrees` may be fractional (Welch). Example: 4 gives 2.776.
[[nodiscard]] inline double student_t95(double degrees) {
  return student_t(degrees, 0.05);
}

/// Least-squares fit of y = slope x + c. NaN with fewer than three points or no spread in x.
struct LinearFit {
  double slope;
  double half_width; ///< half width of the slope's 95 % interval, Student's t with n - 2 degrees of
                     ///< freedom
  double r;          ///< Pearson's correlation; NaN without spread in y
};
[[nodiscard]] LinearFit linear_fit95(std::span<const double> x, std::span<const double> y);

/// The difference of two means and the half width of its 95 % confidence interval.
struct MeanDifference {
  double difference = 0; ///< mean(test) - mean(base)
  double half_width = 0;
};

/// Returns Welch's interval (unequal variances, Welch-Satterthwaite degrees of freedom). Empty when
/// a side has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch95(const SampleStats& base,
                                                    const SampleStats& test);

/// Returns the alpha for each interval if there are several comparisons (Bonferroni): the
/// probability that any of the intervals is wrong is at most 0.05. So in 95 % of sweeps without any
/// difference, all intervals contain 0.
[[nodiscard]] inline double corrected_alpha(std::size_t comparisons) {
  return 0.05 / static_cast<double>(comparisons > 1 ? comparisons : 1);
}
/// Like welch95() of one part, for any alpha. Empty if a side has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch(const SampleStats& base, const SampleStats& test,
                                                  double alpha);
/// Returns the mean of `values` and the half width of its interval (Student's t, n - 1 degrees of
/// freedom). Empty with fewer than two values.
[[nodiscard]] std::optional<MeanDifference> mean_interval(const std::vector<double>& values,
                                                          double alpha);

/// One term of a weighted sum of differences.
struct WelchTerm {
  SampleStats base, test;
  double weight = 1;
};
/// Returns Welch's interval of sum(weight * (mean(test) - mean(base))) over independent terms. With
/// v = weight^2 variance / n for each side of each term: half width t95(d) sqrt(sum v), d = (sum
/// v)^2 / sum(v^2 / (n - 1)) (Satterthwaite 1946). Empty without terms, or if a side of a term has
/// fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch95(std::span<const WelchTerm> terms);
/// Like welch95() of the terms, for any alpha.
[[nodiscard]] std::optional<MeanDifference> welch(std::span<const WelchTerm> terms, double alpha);

/// The direction of improvement: lower values (times) or higher values (bandwidths) are better.
enum class Better : std::uint8_t { kLower, kHigher };

/// Returns by how many percent of |base| `test` is better. Every output uses this sign: for every
/// metric, positive is better and negative is worse. Returns 0 if both are 0; empty if only the
/// base is 0 (a new metric has no percentage) or if one is NaN. Examples: 10 ms -> 9 ms is 10
/// (lower is better); 100 GB/s -> 90 GB/s is -10 (higher is better).
[[nodiscard]] std::optional<double> improvement_percent(double base, double test,
                                                        Better better = Better::kLower);
/// The explanation of this sign in tables and on pages.
inline constexpr std::string_view kImprovementSign = "positive is better";

} // namespace rankscope
