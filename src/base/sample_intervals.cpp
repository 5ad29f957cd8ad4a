#include "base/sample_intervals.h"

#include "base/rank_excess.h"

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

} // namespace rankscope
