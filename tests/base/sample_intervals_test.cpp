// Tests intervals that are calculated from the statistics of a sample, with hand-calculated values.
#include "base/sample_intervals.h"

#include <array>
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

TEST(SampleIntervals, FewSamplesHaveTheVarianceOfAll) {
  SampleStats equal = sample_stats({5, 5, 5});
  SampleStats few = sample_stats({1, 9});          // variance 32
  SampleStats enough = sample_stats({4, 4, 4, 4}); // has its own variance
  SampleStats single = sample_stats({7});          // has no variance
  lend_variance(std::array{&equal, &few, &enough, &single});
  EXPECT_DOUBLE_EQ(equal.variance, 32.0 / 3);
  EXPECT_DOUBLE_EQ(few.variance, 32);
  EXPECT_EQ(enough.variance, 0);
  EXPECT_EQ(single.variance, 0);
}

TEST(SampleIntervals, WhatValuesWereRoundedTo) {
  const auto step = [](const std::vector<double>& values) { return decimal_step(values); };
  EXPECT_DOUBLE_EQ(step({0.25, 1.5, 3}), 0.01);
  EXPECT_DOUBLE_EQ(step({-8, 12}), 1);
  EXPECT_DOUBLE_EQ(step({100, 120}), 10);
  EXPECT_DOUBLE_EQ(step({0.1 + 0.2, 10.02}), 0.01); // doubles that represent decimal numbers
  EXPECT_DOUBLE_EQ(step({1.0 / 3}), 1e-9);
  EXPECT_DOUBLE_EQ(step({1e-5, 123456.7}), 1e-5);
  EXPECT_DOUBLE_EQ(step({0, 0}), 1e6);
  EXPECT_NEAR(with_rounding(sample_stats({5, 5}), 1).variance, 1.0 / 12, 1e-12);
  EXPECT_EQ(with_rounding(sample_stats({5, 7}), 1).variance, 2);
  EXPECT_EQ(with_rounding(sample_stats({5}), 1).variance, 0); // one sample has no variance
}

} // namespace
} // namespace rankscope
