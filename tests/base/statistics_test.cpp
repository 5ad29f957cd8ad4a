// Welch's interval and Student's t against numbers of printed tables and a hand-worked case.
#include "base/statistics.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Statistics, StudentsTOfPrintedTables) {
  const std::pair<double, double> table[] = {{1, 12.706}, {4, 2.776},   {11, 2.201},
                                             {13, 2.160}, {18, 2.101},  {25, 2.060},
                                             {40, 2.021}, {100, 1.984}, {1000, 1.962}};
  for (const auto& [degrees, t] : table)
    EXPECT_NEAR(student_t95(degrees), t, 0.004) << degrees;
  EXPECT_EQ(student_t95(0.3), student_t95(1)); // never below one degree
  double last = student_t95(1);
  for (double df = 1.1; df < 300; df += 0.1) {
    const double t = student_t95(df);
    EXPECT_LE(t, last);
    last = t;
  }
}

TEST(Statistics, WelchByHand) {
  // base 1 2 3: mean 2, variance 1; test 4 6 8: mean 6, variance 4
  // standard error sqrt(1/3 + 4/3) = 1.290994, degrees (5/3)^2 / ((1/9 + 16/9) / 2) = 2.941176
  const SampleStats base = sample_stats({1, 2, 3});
  const SampleStats test = sample_stats({4, 6, 8});
  EXPECT_DOUBLE_EQ(base.mean, 2);
  EXPECT_DOUBLE_EQ(test.variance, 4);
  const auto w = welch95(base, test);
  ASSERT_TRUE(w);
  EXPECT_DOUBLE_EQ(w->difference, 4);
  EXPECT_NEAR(w->half_width, 3.218 * 1.290994, 0.03); // t of 2.941 degrees: 3.218
  EXPECT_FALSE(welch95(sample_stats({1}), test));
  EXPECT_FALSE(welch95(base, sample_stats({})));
  const auto equal = welch95(sample_stats({5, 5}), sample_stats({5, 5}));
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->half_width, 0);
}

} // namespace
} // namespace rankscope
