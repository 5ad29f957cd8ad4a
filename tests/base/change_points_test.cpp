// Tests change points with hand-calculated values, and how often noise has a change point and a
// real step is missed.
#include "base/change_points.h"

#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace rankscope {
namespace {

std::vector<std::size_t> places(const std::vector<double>& values, double alpha = 0.05) {
  std::vector<std::size_t> out;
  for (const ChangePoint& change : change_points(values, alpha))
    out.push_back(change.at);
  return out;
}

TEST(ChangePoints, ByHand) {
  EXPECT_EQ(places({1, 2, 1, 2, 1, 2, 9, 8, 9, 8, 9, 8}), std::vector<std::size_t>{6});
  EXPECT_EQ(places({5, 5, 5, 5, 5, 5, 5, 5, 5, 5}), std::vector<std::size_t>{});
  EXPECT_EQ(places({}), std::vector<std::size_t>{});
  EXPECT_EQ(places({1}), std::vector<std::size_t>{});
  // one outlier is not a level
  EXPECT_EQ(places({1, 2, 1, 2, 1, 90, 1, 2, 1, 2, 1, 2}), std::vector<std::size_t>{});
  // a higher level between two equal levels
  std::vector<double> three;
  for (int i = 0; i < 36; ++i)
    three.push_back((i / 12 == 1 ? 10 : 0) + i % 2);
  EXPECT_EQ(places(three), (std::vector<std::size_t>{12, 24}));
  // far from zero, like Unix times
  for (double& v : three)
    v += 1e9;
  EXPECT_EQ(places(three), (std::vector<std::size_t>{12, 24}));
}

// A level that ends again is found, although no single split of the series is unusual.
TEST(ChangePoints, ARegressionThatWasUndoneIsFound) {
  std::vector<double> values;
  for (int i = 0; i < 25; ++i)
    values.push_back((i >= 10 && i < 15 ? 103 : 100) + 0.1 * (i % 3));
  EXPECT_EQ(places(values), (std::vector<std::size_t>{10, 15}));
  EXPECT_EQ(places(values, 0.05 / 11), (std::vector<std::size_t>{10, 15}));
  values[12] = 100; // its values are no longer one level
  values[11] = 100;
  EXPECT_EQ(places(values, 0.05 / 11), std::vector<std::size_t>{});
}

// Of the 70 ways to order 4 low and 4 high values, 2 have all low values together: p = 2 / 70.
TEST(ChangePoints, TooFewValuesTellNothing) {
  EXPECT_EQ(least_values_for(0.05), 8U);
  EXPECT_EQ(least_values_for(0.05 / 11), 12U); // 2 / 924 = 0.0022
  EXPECT_EQ(places({1, 1.1, 1.2, 9, 9.1, 9.2, 9.3}), std::vector<std::size_t>{});
  EXPECT_EQ(places({1, 1.1, 1.2, 1.3, 9, 9.1, 9.2, 9.3}), std::vector<std::size_t>{4});
  const auto found = change_points(std::vector<double>{1, 1.1, 1.2, 1.3, 9, 9.1, 9.2, 9.3}, 0.05);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].p, 2.0 / 70, 0.01);
}

// With 11 metrics of 40 runs, at most 5 % of the histories have a false change. A step of twice the
// noise is found at its place or next to it.
TEST(ChangePoints, NoiseHasNoneAndAStepOfTwiceTheNoiseIsFound) {
  constexpr int kHistories = 300;
  constexpr int kMetrics = 11;
  constexpr double kAlpha = 0.05 / kMetrics;
  int false_ones = 0;
  int found = 0;
  int near = 0;
  for (int h = 0; h < kHistories; ++h) {
    std::mt19937_64 random(static_cast<std::uint64_t>(h));
    std::lognormal_distribution<double> noise(0, 0.02); // long tails, like measured times
    bool any = false;
    for (int metric = 0; metric < kMetrics; ++metric) {
      std::vector<double> values;
      for (int i = 0; i < 40; ++i)
        values.push_back(100 * noise(random));
      any = any || !change_points(values, kAlpha).empty();
    }
    false_ones += any ? 1 : 0;
    std::vector<double> step;
    for (int i = 0; i < 40; ++i)
      step.push_back((i < 20 ? 100 : 104) * noise(random));
    const std::vector<std::size_t> at = places(step, kAlpha);
    found += at.empty() ? 0 : 1;
    near += at.size() == 1 && at[0] >= 18 && at[0] <= 22 ? 1 : 0;
  }
  std::cout << false_ones << " of " << kHistories << " histories without a change have one, a step "
            << "of twice the noise found in " << found << ", within two runs in " << near << "\n";
  // tolerance: with 300 histories, one standard deviation is 1.3 %
  EXPECT_LE(false_ones * 100, 5 * kHistories + 200);
  EXPECT_GE(found * 100, 95 * kHistories);
  EXPECT_GE(near * 100, 75 * kHistories);
}

} // namespace
} // namespace rankscope
