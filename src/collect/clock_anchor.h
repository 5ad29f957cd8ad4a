// One moment on the three clocks of a host. With it, the times of tools that use different clocks
// can be compared: rocprofiler uses CLOCK_BOOTTIME, RPD CLOCK_MONOTONIC, Kineto Unix time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace rankscope {

/// The readings of the three clocks at one moment, in ns.
struct ClockAnchor {
  std::int64_t unix_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t boottime_ns = 0;
  std::int64_t uncertainty_ns = 0; ///< time within which all three clocks were read
};

/// Returns names and values of the members of the anchor's JSON object, in the order of every
/// manifest.
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
