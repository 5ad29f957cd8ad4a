#include "core/reference_time.h"

#include <cmath>
#include <limits>

namespace rankscope {

double reference_us(std::int64_t ns) {
  constexpr std::int64_t kWhole = std::int64_t{1} << std::numeric_limits<double>::digits;
  if (ns >= -kWhole && ns <= kWhole)
    return static_cast<double>(ns) / 1e3; // both operands are exact, so the result is rounded once
  // the product of numbers with 53 and 10 bits fits in 64 bits, so the remainder is exact and shows
  // whether the adjacent double is nearer
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto whole = static_cast<long double>(ns);
  const auto us = static_cast<double>(whole / 1000.0L);
  const long double left = whole - static_cast<long double>(us) * 1000.0L;
  const double beside = std::nextafter(us, left > 0 ? std::numeric_limits<double>::infinity()
                                                    : -std::numeric_limits<double>::infinity());
  const long double left_beside = whole - static_cast<long double>(beside) * 1000.0L;
  return std::fabs(left_beside) < std::fabs(left) ? beside : us;
}

} // namespace rankscope
