#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace rankscope {

double quantile(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

double quantile_of(std::vector<double> values, double q) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return quantile(values, q);
}

SampleStats sample_stats(const std::vector<double>& values) {
  SampleStats out;
  out.n = values.size();
  if (values.empty())
    return out;
  for (const double v : values)
    out.mean += v / static_cast<double>(values.size());
  if (values.size() < 2)
    return out;
  for (const double v : values)
    out.variance += (v - out.mean) * (v - out.mean);
  out.variance /= static_cast<double>(values.size() - 1);
  return out;
}

BoxStats box_stats(std::vector<double> values) {
  BoxStats b;
  if (values.empty())
    return b;
  std::sort(values.begin(), values.end());
  b.q1 = quantile(values, 0.25);
  b.median = quantile(values, 0.5);
  b.q3 = quantile(values, 0.75);
  b.mean = sample_stats(values).mean;
  const double reach = 1.5 * (b.q3 - b.q1);
  b.low = b.q1;
  b.high = b.q3;
  for (const double v : values) {
    if (v < b.q1 - reach || v > b.q3 + reach) {
      b.outliers.push_back(v);
      continue;
    }
    b.low = std::min(b.low, v);
    b.high = std::max(b.high, v);
  }
  return b;
}

std::vector<std::pair<double, double>> kernel_density(const std::vector<double>& values,
                                                      int count) {
  std::vector<std::pair<double, double>> out;
  if (values.size() < 2 || count < 2)
    return out;
  const auto n = static_cast<double>(values.size());
  const double bandwidth = std::sqrt(sample_stats(values).variance) * std::pow(n, -0.2); // Scott
  if (!(bandwidth > 0))
    return out;
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  for (int i = 0; i < count; ++i) {
    const double x = *lo + (*hi - *lo) * i / (count - 1);
    double sum = 0;
    for (const double v : values)
      sum += std::exp(-0.5 * (x - v) * (x - v) / bandwidth / bandwidth);
    out.emplace_back(x, sum / n / bandwidth / std::sqrt(2 * M_PI));
  }
  return out;
}

double student_t95(double degrees) {
  static constexpr std::pair<double, double> kTable[] = {
      {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},  {6, 2.447},
      {7, 2.365},  {8, 2.306},  {9, 2.262},  {10, 2.228}, {12, 2.179}, {15, 2.131},
      {20, 2.086}, {30, 2.042}, {60, 2.000}, {120, 1.980}};
  constexpr double kNormal = 1.960;
  const double df = std::max(degrees, 1.0);
  const auto* const next = std::find_if(std::begin(kTable), std::end(kTable),
                                        [&](const auto& e) { return e.first >= df; });
  if (next == std::end(kTable))
    return kNormal + (kTable[std::size(kTable) - 1].second - kNormal) * 120 / df;
  if (next->first == df)
    return next->second;
  const auto* const previous = std::prev(next);
  const double share = (1 / previous->first - 1 / df) / (1 / previous->first - 1 / next->first);
  return previous->second + (next->second - previous->second) * share;
}

LinearFit linear_fit95(std::span<const double> x, std::span<const double> y) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  LinearFit out{kNaN, kNaN, kNaN};
  const auto n = static_cast<double>(x.size());
  if (x.size() < 3 || x.size() != y.size())
    return out;
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double sxx = 0;
  double syy = 0;
  double sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sxx += (x[i] - mx) * (x[i] - mx);
    syy += (y[i] - my) * (y[i] - my);
    sxy += (x[i] - mx) * (y[i] - my);
  }
  if (!(sxx > 1e-12))
    return out;
  out.slope = sxy / sxx;
  out.r = syy > 0 ? sxy / std::sqrt(sxx * syy) : kNaN;
  const double residual = std::max(0.0, syy - out.slope * sxy);
  out.half_width = student_t95(n - 2) * std::sqrt(residual / (n - 2) / sxx);
  return out;
}

std::optional<MeanDifference> welch95(const SampleStats& base, const SampleStats& test) {
  const WelchTerm term{base, test};
  return welch95(std::span(&term, 1));
}

std::optional<MeanDifference> welch95(std::span<const WelchTerm> terms) {
  MeanDifference out;
  double variance = 0;
  double spread = 0;
  std::size_t most_degrees = 0;
  for (const WelchTerm& t : terms) {
    if (t.base.n < 2 || t.test.n < 2)
      return std::nullopt;
    const double weight = t.weight * t.weight;
    const double a = weight * t.base.variance / static_cast<double>(t.base.n);
    const double b = weight * t.test.variance / static_cast<double>(t.test.n);
    variance += a + b;
    spread += a * a / static_cast<double>(t.base.n - 1) + b * b / static_cast<double>(t.test.n - 1);
    most_degrees += t.base.n + t.test.n - 2;
    out.difference += t.weight * (t.test.mean - t.base.mean);
  }
  if (terms.empty())
    return std::nullopt;
  const double degrees =
      spread > 0 ? variance * variance / spread : static_cast<double>(most_degrees);
  out.half_width = student_t95(degrees) * std::sqrt(variance);
  return out;
}

std::optional<double> improvement_percent(double base, double test, Better better) {
  if (std::isnan(base) || std::isnan(test))
    return std::nullopt;
  if (base == 0)
    return test == 0 ? std::optional<double>(0) : std::nullopt;
  const double gain = better == Better::kHigher ? test - base : base - test;
  return gain / std::fabs(base) * 100;
}

} // namespace rankscope
