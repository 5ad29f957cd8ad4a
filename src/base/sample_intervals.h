// Intervals computed from sample statistics (number, mean, variance); the values are not needed.
#pragma once

#include "base/statistics.h"

#include <optional>
#include <span>

namespace rankscope {

/// Returns the sample mean and the half width of its interval (Student's t, n - 1 degrees of
/// freedom), like mean_interval() for the values themselves. Empty with fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> mean_interval(const SampleStats& sample, double alpha);

/// Returns the difference between one more `value` and the mean of the sample, with the half width
/// of the prediction interval: t s sqrt(1 + 1 / n), Student's t with n - 1 degrees of freedom. If
/// the value is from the same normal distribution, the difference is within the half width with
/// probability 1 - alpha. Empty with fewer than two samples. Example: 1 2 3 and 5 at 0.05:
/// difference 3, half width 4.303 sqrt(4 / 3) = 4.968.
[[nodiscard]] std::optional<MeanDifference> prediction(const SampleStats& sample, double value,
                                                       double alpha);

/// Returns Welch's interval for sides whose successive samples have correlation `rho`. Each side
/// counts as independent_samples() (base/rank_excess.h), and its degrees of freedom decrease in the
/// same ratio. With rho 0, the interval is the same as that of welch(). Empty if a side has fewer
/// than two samples.
[[nodiscard]] std::optional<MeanDifference>
welch_dependent(const SampleStats& base, const SampleStats& test, double alpha, double rho);

/// Returns the correlation to use in an interval, at least 0. An estimate that is too low by chance
/// makes intervals too narrow. Therefore, if the estimate is larger than its `error`, the error is
/// added.
[[nodiscard]] double cautious_correlation(double estimate, double error);

/// Increases the variance of each sample of two or three values to at least the mean variance of
/// all `samples`: so few values may be almost equal by chance.
void lend_variance(std::span<SampleStats* const> samples);

/// Returns the sample with a variance of at least step^2 / 12, the variance of rounding to `step`.
/// `step` is the resolution of a clock, in the unit of the sample.
[[nodiscard]] SampleStats with_rounding(SampleStats samples, double step);

/// Returns the resolution of the values: the largest power of ten, from 1e-9 to 1e6, such that all
/// values are multiples of it. Example: 0.25, 1.5 and 3 give 0.01.
[[nodiscard]] double decimal_step(std::span<const double> values);

/// Returns P(T > t) of Student's t, one-sided. `degrees` are as in student_t(). Example: (4, 2.776)
/// gives 0.025.
[[nodiscard]] double student_tail(double degrees, double t);

} // namespace rankscope
