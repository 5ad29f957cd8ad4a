// Small-sample statistics: what tells a difference from noise.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace rankscope {

struct SampleStats {
  std::size_t n = 0;
  double mean = 0;
  double variance = 0; ///< of the sample (n - 1); 0 for fewer than two values
};
[[nodiscard]] SampleStats sample_stats(const std::vector<double>& values);

/// Two-sided 95 % quantile of Student's t; `degrees` of freedom may be broken (Welch) and count as
/// at least 1. Linear in 1/degrees between the usual table's entries: right to 0.2 %.
/// Example: 4 gives 2.776.
[[nodiscard]] double student_t95(double degrees);

/// The difference of two means with its 95 % confidence half width.
struct MeanDifference {
  double difference = 0; ///< mean(test) - mean(base)
  double half_width = 0;
};

/// Welch's interval (unequal variances, Welch-Satterthwaite degrees of freedom). None when a side
/// has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> welch95(const SampleStats& base,
                                                    const SampleStats& test);

} // namespace rankscope
