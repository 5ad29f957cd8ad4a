#include "base/sample_intervals.h"

#include "base/rank_excess.h"

#include <algorithm>
#include <cmath>

namespace rankscope {

std::optional<MeanDifference> mean_interval(const SampleStats& sample, double alpha) {
  if (sample.n < 2)
    return std::nullopt;
  const auto n = static_cast<double>(sample.n);
  return MeanDifference{sample.mean, student_t(n - 1, alpha) * std::sqrt(sample.variance / n)};
}

std::optional<MeanDifference> prediction(const SampleStats& sample, double value, double alpha) {
  if (sample.n < 2)
    return std::nullopt;
  const auto n = static_cast<double>(sample.n);
  return MeanDifference{value - sample.mean,
                        student_t(n - 1, alpha) * std::sqrt(sample.variance * (1 + 1 / n))};
}

std::optional<MeanDifference> welch_dependent(const SampleStats& base, const SampleStats& test,
                                              double alpha, double rho) {
  if (base.n < 2 || test.n < 2)
    return std::nullopt;
  MeanDifference out{test.mean - base.mean, 0};
  double variance = 0;
  double loose = 0;
  for (const SampleStats* side : {&base, &test}) {
    const auto n = static_cast<double>(side->n);
    const double worth = independent_samples(n, rho);
    const double v = side->variance / worth;
    variance += v;
    loose += v * v / ((n - 1) * worth / n);
  }
  if (variance > 0)
    out.half_width = student_t(variance * variance / loose, alpha) * std::sqrt(variance);
  return out;
}

double cautious_correlation(double estimate, double error) {
  return estimate > error ? estimate + error : std::max(estimate, 0.0);
}

void lend_variance(std::span<SampleStats* const> samples) {
  constexpr std::size_t kFewestSamples = 4;
  double sum = 0;
  double known = 0;
  for (const SampleStats* s : samples)
    if (s->n > 1) {
      sum += s->variance;
      ++known;
    }
  for (SampleStats* s : samples)
    if (s->n > 1 && s->n < kFewestSamples)
      s->variance = std::max(s->variance, sum / known);
}

SampleStats with_rounding(SampleStats samples, double step) {
  if (samples.n >= 2)
    samples.variance = std::max(samples.variance, step * step / 12);
  return samples;
}

double decimal_step(std::span<const double> values) {
  constexpr int kLargest = 6;
  constexpr int kSmallest = -9;
  constexpr double kClose = 1e-12; // relative to the value: a double is not exactly its decimal
                                   // text
  for (int exponent = kLargest; exponent > kSmallest; --exponent) {
    const double step = std::pow(10.0, exponent);
    if (std::all_of(values.begin(), values.end(), [step](double v) {
          return std::fabs(v - std::round(v / step) * step) <= kClose * std::fabs(v);
        }))
      return step;
  }
  return std::pow(10.0, kSmallest);
}

} // namespace rankscope
