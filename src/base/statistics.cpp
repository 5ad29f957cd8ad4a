#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace rankscope {

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

std::optional<MeanDifference> welch95(const SampleStats& base, const SampleStats& test) {
  if (base.n < 2 || test.n < 2)
    return std::nullopt;
  const double a = base.variance / static_cast<double>(base.n);
  const double b = test.variance / static_cast<double>(test.n);
  const double spread =
      a * a / static_cast<double>(base.n - 1) + b * b / static_cast<double>(test.n - 1);
  const double degrees =
      spread > 0 ? (a + b) * (a + b) / spread : static_cast<double>(base.n + test.n - 2);
  return MeanDifference{test.mean - base.mean, student_t95(degrees) * std::sqrt(a + b)};
}

} // namespace rankscope
