// A periodic schedule that does not drift: ticks are due at begin + k * period, however long a tick
// takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

namespace rankscope {

/// Times are in nanoseconds, on any clock. The caller sets `period_ns` (above 0) and the first
/// `next_ns`.
struct Schedule {
  std::int64_t period_ns = 0, next_ns = 0;
  std::size_t ticks = 0, missed = 0;
  std::int64_t worst_late_ns = 0;
  /// Time from the begin of the period to its tick, less than a period; the caller may change it
  /// after each tick.
  std::int64_t offset_ns = 0;

  [[nodiscard]] std::int64_t tick_ns() const { return next_ns + offset_ns; }

  /// Sets a random time in the period for the next tick, each time with the same probability.
  template <class Random> void scatter(Random& random) {
    offset_ns = static_cast<std::int64_t>(std::uniform_real_distribution(0.0, 1.0)(random) *
                                          static_cast<double>(period_ns));
  }

  /// Returns whether a tick is due. If so, the next time is the first one after `now_ns`, and ticks
  /// in between are missed.
  bool due(std::int64_t now_ns) {
    if (now_ns < tick_ns())
      return false;
    const std::int64_t passed = (now_ns - tick_ns()) / period_ns;
    worst_late_ns = std::max(worst_late_ns, now_ns - tick_ns());
    missed += static_cast<std::size_t>(passed);
    ++ticks;
    next_ns += (passed + 1) * period_ns;
    return true;
  }
};

} // namespace rankscope
