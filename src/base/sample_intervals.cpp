#include "base/sample_intervals.h"

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

} // namespace rankscope
