// Intervals computed from sample statistics, without the values.
#pragma once

#include "base/statistics.h"

#include <optional>
#include <span>

namespace rankscope {

/// Returns the sample mean with the half width of its interval (Student's t, n - 1 degrees), like
/// mean_interval() of the values. Empty with fewer than two samples.
[[nodiscard]] std::optional<MeanDifference> mean_interval(const SampleStats& sample, double alpha);

/// Returns the distance of one more `value` from the mean of the sample. A value of the same normal
/// distribution is within the half width with probability 1 - alpha (prediction interval: Student's
/// t with n - 1 degrees, half width t s sqrt(1 + 1 / n)). Empty with fewer than two samples.
/// Example: 1 2 3 and 5 at 0.05: 3 with t(2) = 4.303 times sqrt(4 / 3) = 4.968.
[[nodiscard]] std::optional<MeanDifference> prediction(const SampleStats& sample, double value,
                                                       double alpha);

/// Returns Welch's interval where successive samples of a side are correlated by `rho`. Each side
/// is worth independent_samples() (base/rank_excess.h), and its degrees fall in the same ratio.
/// With rho 0, the interval is welch(). Empty when a side has fewer than two samples.
[[nodiscard]] std::optional<MeanDifference>
welch_dependent(const SampleStats& base, const SampleStats& test, double alpha, double rho);

/// Returns the correlation to allow for, at least 0. An estimate that is too low by chance makes
/// intervals too narrow, so `error` is added where the estimate is larger.
[[nodiscard]] double cautious_correlation(double estimate, double error);

/// Raises the variance of each sample of two or three values to at least the mean variance of all
/// `samples`. So few values may agree by chance.
void lend_variance(std::span<SampleStats* const> samples);

/// Returns the samples with at least the scatter of values rounded to `step`: step / sqrt(12).
/// `step` is the resolution of a clock, in the unit of the samples.
[[nodiscard]] SampleStats with_rounding(SampleStats samples, double step);

/// Returns the rounding of the values: the largest power of ten, from 1e-9 to 1e6, of which all are
/// multiples. Example: 0.25, 1.5 and 3 give 0.01.
[[nodiscard]] double decimal_step(std::span<const double> values);

/// Returns P(T > t) of Student's t, one-sided. `degrees` are as in student_t(). Example: (4, 2.776)
/// gives 0.025.
[[nodiscard]] double student_tail(double degrees, double t);

} // namespace rankscope
