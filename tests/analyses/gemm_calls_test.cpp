// Tests the selection of the GEMM calls that are plotted if there are too many.
#include "analyses/gemm/gemm_facts.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

// Of many calls, the shortest and the longest of each piece are selected, so extreme calls are
// plotted.
TEST(GemmCalls, AreThinnedToTheExtremesOfPieces) {
  std::vector<GemmInstance> calls;
  for (std::int64_t i = 0; i < 1000; ++i)
    calls.push_back({5000 + 10 * i, 100 + i * 7919 % 97, -1, i % 3, 0});
  calls[611].dur_ns = 9999;
  calls[377].dur_ns = 1;
  const std::vector<GemmCall> all = thinned_calls(calls, 5000, 1000);
  ASSERT_EQ(all.size(), 1000U);
  EXPECT_EQ(all[7].at_ns, 70);
  EXPECT_EQ(all[7].overlap_ns, 1);
  const std::vector<GemmCall> few = thinned_calls(calls, 5000, 100);
  EXPECT_EQ(few.size(), 100U);
  std::int64_t last = -1;
  for (const GemmCall& call : few) {
    EXPECT_GT(call.at_ns, last);
    last = call.at_ns;
    const GemmInstance& instance = calls[static_cast<std::size_t>(call.at_ns / 10)];
    EXPECT_EQ(call.dur_ns, instance.dur_ns);
    // the call is an extreme of its piece of 20 calls
    const auto piece = static_cast<std::size_t>(call.at_ns / 10 / 20) * 20;
    std::int64_t least = INT64_MAX, most = 0;
    for (std::size_t i = piece; i < piece + 20; ++i) {
      least = std::min(least, calls[i].dur_ns);
      most = std::max(most, calls[i].dur_ns);
    }
    EXPECT_TRUE(instance.dur_ns == least || instance.dur_ns == most) << call.at_ns;
  }
  for (const std::int64_t at : {6110, 3770})
    EXPECT_TRUE(
        std::any_of(few.begin(), few.end(), [&](const GemmCall& c) { return c.at_ns == at; }));
  EXPECT_TRUE(thinned_calls({}, 0).empty());
  calls.resize(1);
  EXPECT_EQ(thinned_calls(calls, 0, 1).size(), 1U);
}

} // namespace
} // namespace rankscope
