#include "core/reference_time.h"

#include <cmath>
#include <limits>

namespace rankscope {

double reference_us(std::int64_t ns) {
  constexpr std::int64_t kExact = std::int64_t{1} << std::numeric_limits<double>::digits;
  if (ns >= -kExact && ns <= kExact)
    return static_cast<double>(ns) / 1e3; // both operands are exact, so the result is rounded once
  // the product of numbers with 53 and 10 bits fits in 64 bits, so the remainder is exact and shows
  // whether the adjacent double is nearer
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact_ns = static_cast<long double>(ns);
  const auto us = static_cast<double>(exact_ns / 1000.0L);
  const long double left = exact_ns - static_cast<long double>(us) * 1000.0L;
  const double adjacent = std::nextafter(us, left > 0 ? std::numeric_limits<double>::infinity()
                                                      : -std::numeric_limits<double>::infinity());
  const long double adjacent_left = exact_ns - static_cast<long double>(adjacent) * 1000.0L;
  return std::fabs(adjacent_left) < std::fabs(left) ? adjacent : us;
}

} // namespace rankscope
