// One function per unit conversion. Times are int64 nanoseconds in memory.
#pragma once

#include <cstdint>

namespace rankscope {

constexpr double ns_to_us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}
constexpr double ns_to_ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}
constexpr double ns_to_s(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
/// For a sum or mean of times: a double of nanoseconds.
constexpr double ns_to_us(double ns) {
  return ns / 1e3;
}
constexpr double ns_to_ms(double ns) {
  return ns / 1e6;
}
/// Converts seconds from user input. More than 9e9 s (285 years) gives 9e9 s, which fits in int64
/// nanoseconds. NaN and negative values give 0.
constexpr std::int64_t s_to_ns(double seconds) {
  constexpr double kMost = 9e9;
  return static_cast<std::int64_t>((seconds > kMost ? kMost : seconds > 0 ? seconds : 0) * 1e9);
}
/// Returns 100 if `part` equals `whole`, and `without` if `whole` is not positive.
template <class Part, class Whole>
[[nodiscard]] constexpr double percent_of(Part part, Whole whole, double without = 0) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : without;
}
constexpr double bytes_to_mib(double bytes) {
  return bytes / 1048576.0;
}

} // namespace rankscope
