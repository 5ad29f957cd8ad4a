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
/// The same of sums of times, which are doubles of nanoseconds.
constexpr double ns_to_us(double ns) {
  return ns / 1e3;
}
constexpr double ns_to_ms(double ns) {
  return ns / 1e6;
}
constexpr double bytes_to_mib(double bytes) {
  return bytes / 1048576.0;
}

} // namespace rankscope
