#include "writers/plot.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Plot, BoxByHand) {
  const BoxStats b = box_stats({100, 4, 2, 3, 1});
  EXPECT_DOUBLE_EQ(b.q1, 2);
  EXPECT_DOUBLE_EQ(b.median, 3);
  EXPECT_DOUBLE_EQ(b.q3, 4);
  EXPECT_DOUBLE_EQ(b.low, 1);  // within 2 - 1.5 * 2
  EXPECT_DOUBLE_EQ(b.high, 4); // 100 is beyond 4 + 1.5 * 2
  EXPECT_EQ(b.outliers, (std::vector<double>{100}));
  EXPECT_DOUBLE_EQ(b.mean, 22);
}

TEST(Plot, DensityByHand) {
  // two points at 0 and 2: deviation sqrt(2), bandwidth sqrt(2) * 2^-0.2
  const auto d = kernel_density({0, 2}, 3);
  ASSERT_EQ(d.size(), 3U);
  const double h = std::sqrt(2.0) * std::pow(2.0, -0.2);
  const double middle = std::exp(-0.5 / h / h) / h / std::sqrt(2 * M_PI);
  EXPECT_NEAR(d[1].second, middle, 1e-12);
  EXPECT_DOUBLE_EQ(d[0].second, d[2].second);
  EXPECT_TRUE(kernel_density({5, 5, 5}).empty());
  EXPECT_TRUE(kernel_density({5}).empty());
}

} // namespace
} // namespace rankscope
