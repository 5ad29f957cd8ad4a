// One moment on the three clocks of a host: what ties files of tools that count on different clocks
// (rocprofiler on CLOCK_BOOTTIME, RPD on CLOCK_MONOTONIC, Kineto on Unix time) to each other.
#pragma once

#include <cstdint>

namespace rankscope {

/// The same moment on each clock, in ns.
struct ClockAnchor {
  std::int64_t unix_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
  std::int64_t uncertainty_ns = 0; ///< the three were read within this time
};

/// Reads the clocks a few times and returns the reading that took the shortest time.
[[nodiscard]] ClockAnchor read_clock_anchor();

} // namespace rankscope
