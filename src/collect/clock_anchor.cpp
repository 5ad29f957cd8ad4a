#include "collect/clock_anchor.h"
#include "os/clock.h"

namespace rankscope {
namespace {

constexpr int kReadings = 5; ///< enough that at least one reading is not interrupted

} // namespace

ClockAnchor read_clock_anchor() {
  ClockAnchor best;
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
    ClockAnchor anchor;
    anchor.boottime_ns = clock_ns(CLOCK_BOOTTIME);
    anchor.unix_ns = clock_ns(CLOCK_REALTIME);
    const std::int64_t end = clock_ns(CLOCK_MONOTONIC);
    anchor.uncertainty_ns = end - begin;
    anchor.monotonic_ns = begin + anchor.uncertainty_ns / 2;
    if (i == 0 || anchor.uncertainty_ns < best.uncertainty_ns)
      best = anchor;
  }
  return best;
}

} // namespace rankscope
