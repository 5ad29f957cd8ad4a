// Intervals of a sample from its statistics, by hand.
#include "base/sample_intervals.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

// 1 2 3: mean 2, s = 1; t(2) at 0.05 is 4.303.
TEST(SampleIntervals, ByHand) {
  const SampleStats sample = sample_stats({1, 2, 3});
  const auto one_more = prediction(sample, 5, 0.05);
  ASSERT_TRUE(one_more);
  EXPECT_NEAR(one_more->difference, 3, 1e-12);
  EXPECT_NEAR(one_more->half_width, 4.302653 * std::sqrt(4.0 / 3), 1e-5);
  const auto mean = mean_interval(sample, 0.05);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->half_width, 4.302653 * std::sqrt(1.0 / 3), 1e-5);
  EXPECT_FALSE(prediction(sample_stats({1}), 5, 0.05));
  EXPECT_FALSE(mean_interval(sample_stats({1}), 0.05));
}

} // namespace
} // namespace rankscope
