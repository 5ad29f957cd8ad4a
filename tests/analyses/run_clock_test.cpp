// Tests times since the start of a run, with expected values calculated by hand.
#include "analyses/collectives/run_clock.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

// Rank 1 begins first on the common clock, although its file has the later times.
TEST(RunClock, StartsAtTheFirstGpuEventOfAllRanks) {
  const RunClock clock({{0, 5'000, 300}, {1, 4'000, 1'250}}, nullptr);
  // common times: 5000 + 300 and 4000 + 1250
  EXPECT_EQ(clock.since_start(1, 1'250), 0);
  EXPECT_EQ(clock.since_start(0, 300), 50);
  EXPECT_EQ(clock.since_start(0, 200), -50) << "the host works before the GPU";
}

TEST(RunClock, ARankWithoutGpuEventsDoesNotSetTheStart) {
  const RunClock clock({{0, 0, std::nullopt}, {1, 0, 400}}, nullptr);
  EXPECT_EQ(clock.since_start(0, 500), 100);
}

} // namespace
} // namespace rankscope
