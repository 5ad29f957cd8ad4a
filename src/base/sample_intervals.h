// Intervals of samples whose statistics are known, but not their values.
#pragma once

#include "base/statistics.h"

#include <optional>
#include <span>

namespace rankscope {

/// Mean of the sample with the half width of its interval (Student's t, n - 1 degrees), as
/// mean_interval() of the values. None with fewer than two.
[[nodiscard]] std::optional<MeanDifference> mean_interval(const SampleStats& sample, double alpha);

/// Returns the distance of one more `value` from the mean of the sample. A value of the same normal
/// distribution is within the half width with probability 1 - alpha (prediction interval: Student's
/// t with n - 1 degrees, half width t s sqrt(1 + 1 / n)). None with fewer than two.
/// Example: 1 2 3 and 5 at 0.05: 3 with t(2) = 4.303 times sqrt(4 / 3) = 4.968.
[[nodiscard]] std::optional<MeanDifference> prediction(const SampleStats& sample, double value,
                                                       double alpha);

/// Welch's interval where successive samples of a side are correlated by `rho`: each side is worth
/// independent_samples() (base/rank_excess.h), and its degrees fall in the same ratio. With rho 0
/// it is welch(). None when a side has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference>
welch_dependent(const SampleStats& base, const SampleStats& test, double alpha, double rho);

/// The correlation to allow for: an estimate that is too low by chance makes intervals too narrow,
/// so its standard error is added where it exceeds that. Never below 0.
[[nodiscard]] double cautious_correlation(double estimate, double error);

/// Few samples may agree by chance: with two or three, the variance is set to at least the mean
/// variance of all of these.
void lend_variance(std::span<SampleStats* const> samples);

/// The samples with at least the scatter of values that were rounded to `step` (the resolution of a
/// clock, in the unit of the samples): step / sqrt(12).
[[nodiscard]] SampleStats with_rounding(SampleStats samples, double step);

/// The largest power of ten, from 1e-9 to 1e6, of which all values are multiples: their
/// rounding. Example: 0.25, 1.5 and 3 give 0.01.
[[nodiscard]] double decimal_step(std::span<const double> values);

/// P(T > t) of Student's t, one-sided; `degrees` as student_t(). Example: (4, 2.776) is 0.025.
[[nodiscard]] double student_tail(double degrees, double t);

} // namespace rankscope
