// Clocks of the system in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace rankscope {

[[nodiscard]] inline std::int64_t ns_of(const timespec& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Returns the time of a clock; CLOCK_REALTIME gives the Unix time.
[[nodiscard]] inline std::int64_t clock_ns(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return ns_of(now);
}

} // namespace rankscope
