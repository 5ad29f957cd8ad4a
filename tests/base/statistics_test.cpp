// Tests Welch's interval and Student's t with values from printed tables and a hand-calculated
// case.
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
  EXPECT_EQ(student_t95(0.3), student_t95(1)); // at least one degree of freedom
  double last = student_t95(1);
  for (double df = 1.1; df < 300; df += 0.1) {
    const double t = student_t95(df);
    EXPECT_LE(t, last);
    last = t;
  }
}

TEST(Statistics, WelchByHand) {
  // base 1 2 3: mean 2, variance 1; test 4 6 8: mean 6, variance 4
  // standard error sqrt(1/3 + 4/3) = 1.290994, degrees of freedom (5/3)^2 / ((1/9 + 16/9) / 2) =
  // 2.941176
  const SampleStats base = sample_stats({1, 2, 3});
  const SampleStats test = sample_stats({4, 6, 8});
  EXPECT_DOUBLE_EQ(base.mean, 2);
  EXPECT_DOUBLE_EQ(test.variance, 4);
  const auto w = welch95(base, test);
  ASSERT_TRUE(w);
  EXPECT_DOUBLE_EQ(w->difference, 4);
  EXPECT_NEAR(w->half_width, 3.218 * 1.290994, 0.03); // t with 2.941 degrees of freedom: 3.218
  EXPECT_FALSE(welch95(sample_stats({1}), test));
  EXPECT_FALSE(welch95(base, sample_stats({})));
  const auto equal = welch95(sample_stats({5, 5}), sample_stats({5, 5}));
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->half_width, 0);
}

TEST(Statistics, WelchOfAWeightedSumByHand) {
  // 2 (test - base) of the case above plus 1 (9 - 8, no noise):
  // variance 4 (1/3 + 4/3) = 20/3, degrees of freedom (20/3)^2 / ((4/3)^2/2 + (16/3)^2/2) =
  // 2.941176
  const WelchTerm terms[] = {{sample_stats({1, 2, 3}), sample_stats({4, 6, 8}), 2},
                             {sample_stats({8, 8}), sample_stats({9, 9, 9}), 1}};
  const auto w = welch95(terms);
  ASSERT_TRUE(w);
  EXPECT_DOUBLE_EQ(w->difference, 9);
  EXPECT_NEAR(w->half_width, student_t95(2.941176) * std::sqrt(20.0 / 3), 1e-5);
  const WelchTerm lacking[] = {terms[0], {sample_stats({1}), sample_stats({2, 3}), 1}};
  EXPECT_FALSE(welch95(lacking));
  EXPECT_FALSE(welch95(std::span<const WelchTerm>()));
}

TEST(Statistics, QuantilesByHand) {
  const std::vector<double> sorted = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
  EXPECT_DOUBLE_EQ(quantile_of({4, 1, 3}, 0.5), 3);
  EXPECT_TRUE(std::isnan(quantile_of({}, 0.5)));
}

TEST(Statistics, BoxByHand) {
  const BoxStats b = box_stats({100, 4, 2, 3, 1});
  EXPECT_DOUBLE_EQ(b.q1, 2);
  EXPECT_DOUBLE_EQ(b.median, 3);
  EXPECT_DOUBLE_EQ(b.q3, 4);
  EXPECT_DOUBLE_EQ(b.low, 1);  // not below 2 - 1.5 * 2
  EXPECT_DOUBLE_EQ(b.high, 4); // 100 is beyond 4 + 1.5 * 2
  EXPECT_EQ(b.outliers, (std::vector<double>{100}));
  EXPECT_DOUBLE_EQ(b.mean, 22);
}

TEST(Statistics, DensityByHand) {
  // two points at 0 and 2: standard deviation sqrt(2), bandwidth sqrt(2) * 2^-0.2
  const auto d = kernel_density({0, 2}, 3);
  ASSERT_EQ(d.size(), 3U);
  const double h = std::sqrt(2.0) * std::pow(2.0, -0.2);
  const double middle = std::exp(-0.5 / h / h) / h / std::sqrt(2 * M_PI);
  EXPECT_NEAR(d[1].second, middle, 1e-12);
  EXPECT_DOUBLE_EQ(d[0].second, d[2].second);
  EXPECT_TRUE(kernel_density({5, 5, 5}).empty());
  EXPECT_TRUE(kernel_density({5}).empty());
}

TEST(Statistics, LinearFitByHand) {
  // y = 2 x + 1 with residuals 1 -2 1: slope 2, s^2 = 6 / 1, half width 12.706 sqrt(6 / 2)
  const LinearFit fit = linear_fit95(std::vector<double>{0, 1, 2}, std::vector<double>{2, 1, 6});
  EXPECT_DOUBLE_EQ(fit.slope, 2);
  EXPECT_NEAR(fit.half_width, 12.706205 * std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(fit.r, 4 / std::sqrt(2.0 * 14), 1e-12);
  EXPECT_TRUE(
      std::isnan(linear_fit95(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}).slope));
  EXPECT_TRUE(std::isnan(linear_fit95(std::vector<double>{1, 2}, std::vector<double>{1, 2}).slope));
}

TEST(Statistics, ImprovementHasOneSignAndOneAnswerForZeros) {
  EXPECT_DOUBLE_EQ(*improvement_percent(10, 9), 10);
  EXPECT_DOUBLE_EQ(*improvement_percent(100, 90, Better::kHigher), -10);
  // relative to the absolute value of the base
  EXPECT_DOUBLE_EQ(*improvement_percent(-10, -11), 10);
  for (const Better better : {Better::kLower, Better::kHigher}) {
    EXPECT_EQ(improvement_percent(0, 0, better), std::optional<double>(0));
    EXPECT_FALSE(improvement_percent(0, 1, better));
    EXPECT_FALSE(improvement_percent(std::nan(""), 1, better));
    EXPECT_FALSE(improvement_percent(1, std::nan(""), better));
  }
}

TEST(Statistics, StudentsTAtAnyLevel) {
  EXPECT_NEAR(student_t(4, 0.05), 2.776445, 1e-5);
  EXPECT_NEAR(student_t(10, 0.01), 3.169273, 1e-5);
  EXPECT_NEAR(student_t(30, 0.001), 3.645959, 1e-5);
  EXPECT_NEAR(student_t(1, 0.05), 12.706205, 1e-4);
  EXPECT_NEAR(student_t(2, 0.002), 22.327125, 1e-3);
  EXPECT_NEAR(student_t(1e6, 0.05), 1.959966, 1e-4);
  EXPECT_NEAR(student_t(1.5, 0.05), 6.016663, 1e-5); // linear interpolation in a table was 15 % off
}

TEST(Statistics, WelchAtFivePercentIsWelch95) {
  const SampleStats a = sample_stats({10, 12, 11, 13, 9});
  const SampleStats b = sample_stats({15, 14, 18, 16});
  const auto table = welch95(a, b);
  const auto exact = welch(a, b, 0.05);
  ASSERT_TRUE(table && exact);
  EXPECT_DOUBLE_EQ(table->difference, exact->difference);
  EXPECT_NEAR(table->half_width / exact->half_width, 1, 0.005);
  EXPECT_GT(welch(a, b, corrected_alpha(6))->half_width, exact->half_width);
  EXPECT_FALSE(welch(a, sample_stats({1}), 0.05));
  const auto mean = mean_interval({1, 2, 3, 4}, 0.05); // 2.5 +- 3.182 * 1.291 / 2
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->half_width, 2.0542, 1e-3);
}

} // namespace
} // namespace rankscope
