#include "base/statistics.h"

#include "base/invariant.h"
#include "base/sample_intervals.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace rankscope {

double quantile(std::span<const double> sorted, double q) {
  RS_ASSERT(!sorted.empty() && q >= 0 && q <= 1);
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

RobustSpread robust_spread(std::vector<double> values) {
  constexpr double kNormal = 1.4826;
  const double median = quantile_of(values, 0.5);
  for (double& value : values)
    value = std::fabs(value - median);
  return {median, kNormal * quantile_of(std::move(values), 0.5)};
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
  // Scott's rule
  const double bandwidth = std::sqrt(sample_stats(values).variance) * std::pow(n, -0.2);
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

namespace {

/// Use this instead of std::lgamma, which writes a global variable.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// Regularized incomplete beta function I_x(a, b), Lentz's continued fraction (DLMF 8.17.22).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  if (x > (a + 1) / (a + b + 2))
    return 1 - incomplete_beta(b, a, 1 - x);
  constexpr double kTiny = 1e-300;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x)) /
                       a;
  double f = 1;
  double c = 1;
  double d = 0;
  for (int i = 0; i <= 300; ++i) {
    const int m = i / 2;
    const double numerator = i == 0 ? 1
                             : i % 2 == 0
                                 ? m * (b - m) * x / ((a + 2.0 * m - 1) * (a + 2.0 * m))
                                 : -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1));
    d = 1 + numerator * d;
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    c = 1 + numerator / c;
    c = std::fabs(c) < kTiny ? kTiny : c;
    f *= c * d;
    if (std::fabs(1 - c * d) < 1e-14)
      break;
  }
  return front * (f - 1);
}

} // namespace

double student_t(double degrees, double alpha) {
  const double v = std::max(degrees, 1.0);
  // P(|T| > t) = I_{v / (v + t^2)}(v / 2, 1 / 2) is convex for t > 0: Newton's steps from 0
  // approach the solution from one side.
  const double peak = std::exp(log_gamma((v + 1) / 2) - log_gamma(v / 2)) / std::sqrt(v * M_PI);
  double t = 0;
  for (int i = 0; i < 200; ++i) {
    const double beyond = incomplete_beta(v / 2, 0.5, v / (v + t * t));
    const double density = peak * std::pow(1 + t * t / v, -(v + 1) / 2);
    const double step = (beyond - alpha) / (2 * density);
    t += step;
    if (!(std::fabs(step) > 1e-12 * t))
      break;
  }
  return t;
}

double student_tail(double degrees, double t) {
  const double v = std::max(degrees, 1.0);
  const double beyond = incomplete_beta(v / 2, 0.5, v / (v + t * t)) / 2;
  return t < 0 ? 1 - beyond : beyond;
}

std::optional<MeanDifference> mean_interval(const std::vector<double>& values, double alpha) {
  return mean_interval(sample_stats(values), alpha);
}

std::optional<MeanDifference> welch(const SampleStats& base, const SampleStats& test,
                                    double alpha) {
  if (base.n < 2 || test.n < 2)
    return std::nullopt;
  const double a = base.variance / static_cast<double>(base.n);
  const double b = test.variance / static_cast<double>(test.n);
  MeanDifference out{test.mean - base.mean, 0};
  if (a + b > 0) {
    const double degrees =
        (a + b) * (a + b) /
        (a * a / static_cast<double>(base.n - 1) + b * b / static_cast<double>(test.n - 1));
    out.half_width = student_t(degrees, alpha) * std::sqrt(a + b);
  }
  return out;
}

LinearFit linear_fit95(std::span<const double> x, std::span<const double> y) {
  LinearFit out{kNaN, kNaN, kNaN};
  RS_ASSERT(x.size() == y.size());
  const auto n = static_cast<double>(x.size());
  if (x.size() < 3)
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
  return welch(terms, 0.05);
}

std::optional<MeanDifference> welch(std::span<const WelchTerm> terms, double alpha) {
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
  out.half_width = student_t(degrees, alpha) * std::sqrt(variance);
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
