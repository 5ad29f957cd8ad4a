// Statistics, each once: quantiles, boxes, densities, significance of differences, and the one sign
// of an improvement.
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

/// Stands for a value that is not available.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Quantile by linear interpolation between the order statistics (type 7 of Hyndman and Fan 1996).
/// `sorted` ascending, not empty; q from 0 to 1. Example: 0.25 of 1 2 3 4 is 1.75.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);
/// The same of values in any order; NaN of none. O(n log n).
[[nodiscard]] double quantile_of(std::vector<double> values, double q);

struct RobustSpread {
  double median = 0;
  double deviation = 0; ///< 1.4826 median absolute deviations: standard, of a normal distribution
};
/// NaN of no values. O(n log n).
[[nodiscard]] RobustSpread robust_spread(std::vector<double> values);

struct SampleStats {
  std::size_t n = 0;
  double mean = 0;
  double variance = 0; ///< of the sample (n - 1); 0 for fewer than two values
};
[[nodiscard]] SampleStats sample_stats(const std::vector<double>& values);

/// Quartiles by quantile(), whiskers to the last sample within 1.5 interquartile ranges (Tukey).
/// Example: 1 2 3 4 100: q1 2, median 3, q3 4, whiskers 1 and 4, outlier 100.
struct BoxStats {
  double q1 = 0, median = 0, q3 = 0, low = 0, high = 0, mean = 0;
  std::vector<double> outliers;
};
/// All 0 for no values.
[[nodiscard]] BoxStats box_stats(std::vector<double> values);

/// Gaussian kernel density with Scott's bandwidth at `count` points from minimum to maximum. Empty
/// for fewer than two distinct values.
[[nodiscard]] std::vector<std::pair<double, double>>
kernel_density(const std::vector<double>& values, int count = 100);

/// Two-sided quantile of Student's t: |t| exceeds it with probability `alpha` (0 < alpha < 1).
/// `degrees` may be broken and count as at least 1. Regularized incomplete beta function by its
/// continued fraction, inverted by bisection. Examples: (4, 0.05) 2.776, (10, 0.01) 3.169.
[[nodiscard]] double student_t(double degrees, double alpha);
/// student_t() at 0.05; `degrees` of freedom may be broken (Welch). Example: 4 gives 2.776.
[[nodiscard]] inline double student_t95(double degrees) {
  return student_t(degrees, 0.05);
}

/// Least squares y = slope x + c. NaN with fewer than three points or no spread in x.
struct LinearFit {
  double slope;
  double half_width; ///< of the slope's 95 % interval, Student's t with n - 2 degrees
  double r;          ///< Pearson's; NaN without spread in y
};
[[nodiscard]] LinearFit linear_fit95(std::span<const double> x, std::span<const double> y);

/// How every interval of a difference is made; shown wherever one is.
inline constexpr std::string_view kIntervalMethod = "Welch, 95 %";

/// The difference of two means with its 95 % confidence half width.
struct MeanDifference {
  double difference = 0; ///< mean(test) - mean(base)
  double half_width = 0;
};

/// Welch's interval (unequal variances, Welch-Satterthwaite degrees of freedom). None when a side
/// has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch95(const SampleStats& base,
                                                    const SampleStats& test);

/// An interval for each of several comparisons that together err with probability 0.05 at most
/// (Bonferroni): in 95 % of sweeps without any difference, all intervals contain 0.
[[nodiscard]] inline double corrected_alpha(std::size_t comparisons) {
  return 0.05 / static_cast<double>(comparisons > 1 ? comparisons : 1);
}
/// welch95() of one part at any level. None when a side has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch(const SampleStats& base, const SampleStats& test,
                                                  double alpha);
/// Mean of `values` with the half width of its interval (Student's t, n - 1 degrees). None with
/// fewer than two.
[[nodiscard]] std::optional<MeanDifference> mean_interval(const std::vector<double>& values,
                                                          double alpha);

/// One part of a weighted sum of differences.
struct WelchTerm {
  SampleStats base, test;
  double weight = 1;
};
/// Welch's interval of sum(weight * (mean(test) - mean(base))) over independent parts. With v =
/// weight^2 variance / n of each side of each part: half width t95(d) sqrt(sum v), d = (sum v)^2 /
/// sum(v^2 / (n - 1)) (Satterthwaite 1946). None without parts or when a side of one has fewer than
/// two samples.
[[nodiscard]] std::optional<MeanDifference> welch95(std::span<const WelchTerm> terms);
/// The same at any level.
[[nodiscard]] std::optional<MeanDifference> welch(std::span<const WelchTerm> terms, double alpha);

/// Whether a lower (times) or a higher value (bandwidths) is better.
enum class Better : std::uint8_t { kLower, kHigher };

/// THE sign of a change, everywhere: percent of |base| by which `test` is better. Positive is
/// better and negative is worse for every metric. 0 when both are 0; none when only the base is 0
/// (a new metric has no percentage) and when one is NaN. Examples: 10 ms -> 9 ms is 10 (lower is
/// better); 100 GB/s -> 90 GB/s is -10 (higher is better).
[[nodiscard]] std::optional<double> improvement_percent(double base, double test,
                                                        Better better = Better::kLower);
/// How tables and pages explain this sign.
inline constexpr std::string_view kImprovementSign = "positive is better";

} // namespace rankscope
