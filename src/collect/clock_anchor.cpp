#include "collect/clock_anchor.h"

#include <ctime>

namespace rankscope {
namespace {

constexpr int kReadings = 5; ///< enough that one of them is not interrupted

std::int64_t now_ns(clockid_t clock) {
  timespec t = {};
  ::clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

} // namespace

ClockAnchor read_clock_anchor() {
  ClockAnchor best;
  for (int i = 0; i < kReadings; ++i) {
    const std::int64_t begin = now_ns(CLOCK_MONOTONIC);
    ClockAnchor anchor;
    anchor.boottime_ns = now_ns(CLOCK_BOOTTIME);
    anchor.unix_ns = now_ns(CLOCK_REALTIME);
    const std::int64_t end = now_ns(CLOCK_MONOTONIC);
    anchor.uncertainty_ns = end - begin;
    anchor.monotonic_ns = begin + anchor.uncertainty_ns / 2;
    if (i == 0 || anchor.uncertainty_ns < best.uncertainty_ns)
      best = anchor;
  }
  return best;
}

} // namespace rankscope
