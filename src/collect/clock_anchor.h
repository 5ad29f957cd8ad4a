// One moment on the three clocks of a host: what ties files of tools that count on different clocks
// (rocprofiler on CLOCK_BOOTTIME, RPD on CLOCK_MONOTONIC, Kineto on Unix time) to each other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace rankscope {

/// The same moment on each clock, in ns.
struct ClockAnchor {
  std::int64_t unix_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
  std::int64_t uncertainty_ns = 0; ///< the three were read within this time
};

/// The members of its JSON object in every manifest, in order.
[[nodiscard]] inline std::array<std::pair<std::string_view, std::int64_t>, 4>
clock_members(const ClockAnchor& a) {
  return {{{"unix_ns", a.unix_ns},
           {"monotonic_ns", a.monotonic_ns},
           {"boottime_ns", a.boottime_ns},
           {"uncertainty_ns", a.uncertainty_ns}}};
}

/// Reads the clocks a few times and returns the reading that took the shortest time.
[[nodiscard]] ClockAnchor read_clock_anchor();

} // namespace rankscope
