#include "collect/clock_anchor.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ClockAnchor, IsNowOnEachClock) {
  using namespace std::chrono;
  const std::int64_t unix_before =
      duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  const std::int64_t before =
      duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
  const ClockAnchor anchor = read_clock_anchor();
  const std::int64_t after =
      duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
  EXPECT_GE(anchor.monotonic_ns, before);
  EXPECT_LE(anchor.monotonic_ns, after);
  EXPECT_LE(anchor.uncertainty_ns, after - before);
  EXPECT_LT(std::llabs(anchor.unix_ns - unix_before), 10'000'000'000);
  // boot time includes sleep
  EXPECT_GE(anchor.boottime_ns, anchor.monotonic_ns - anchor.uncertainty_ns);
}

} // namespace
} // namespace rankscope
