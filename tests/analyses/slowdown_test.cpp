// Tests the slowdown of GEMMs under collectives with calls whose durations follow from it.
#include "analyses/sweep/slowdown.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns the calls of a GEMM of 100 us, of which collectives overlap parts. Overlapped work
/// advances at the speed 1 / (1 + slowdown).
CallGroup calls_with(double slowdown) {
  CallGroup out;
  out.gemm = true;
  for (const double overlap_us : {0.0, 20.0, 60.0, 100.0}) {
    CallBlock& block = out.blocks.emplace_back();
    for (const double of_call : {0.0, overlap_us}) {
      const double us = 100 + of_call * slowdown / (1 + slowdown);
      block.add(us, of_call / us);
    }
  }
  return out;
}

// No call is overlapped completely. The duration is not linear in the share: a line through it gave
// 78 % in place of 103 %.
TEST(Contention, IsExactForPartlyOverlappedCalls) {
  for (const double slowdown : {0.05, 0.377, 1.032}) {
    RankRecord rank;
    rank.calls.push_back(calls_with(slowdown));
    ConfigurationRanks group;
    group.ranks = {&rank};
    const std::optional<Estimate> found = contention_of(group);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->value, slowdown, 1e-9);
    EXPECT_NEAR(found->interval(0.05).half_width, 0, 1e-9);
    EXPECT_EQ(found->calls, 3U);
  }
}

} // namespace
} // namespace rankscope
