// The difference between two clocks, as a linear function of time. All conversions between clocks
// use at(), which computes with integers, so that the order of two times never changes.
#pragma once

#include <cstdint>

namespace rankscope {

/// The largest valid drift: one millisecond per second, ten times the drift of a poor crystal.
inline constexpr std::int64_t kMaxDriftPpt = 1'000'000'000;

struct ClockLine {
  std::int64_t offset_ns = 0; ///< difference (leading clock - other clock) at from_ns
  std::int64_t drift_ppt = 0; ///< increase of the difference in ps per second; at most kMaxDriftPpt
                              ///< in either direction
  std::int64_t from_ns = 0;   ///< Unix time on the leading clock

  /// Returns the difference that must be subtracted from the time `unix_ns` of the leading clock.
  /// The time must be valid as in usable_time(), and the clock must have a valid offset. Example:
  /// {500, 30'000'000, 0} (30 us per second) at 2 s: 500 + 60'000 ns.
  [[nodiscard]] std::int64_t at(std::int64_t unix_ns) const {
    constexpr std::int64_t kSecond = 1'000'000'000;
    constexpr std::int64_t kPsPerNs = 1'000;
    if (drift_ppt == 0)
      return offset_ns;
    // compute with seconds and their remainder separately: 292 years of kMaxDriftPpt still fit in
    // 64 bits
    const std::int64_t elapsed = unix_ns - from_ns;
    const std::int64_t gained_ps =
        elapsed / kSecond * drift_ppt + elapsed % kSecond * drift_ppt / kSecond;
    const std::int64_t half = gained_ps < 0 ? -kPsPerNs / 2 : kPsPerNs / 2;
    // round without a sum that could overflow
    return offset_ns + gained_ps / kPsPerNs + (gained_ps % kPsPerNs + half) / kPsPerNs;
  }
};

} // namespace rankscope
