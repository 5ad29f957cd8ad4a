#include "model/step_energy.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<double> one(const std::vector<PowerSample>& samples, double from_s, double to_s,
                          std::int64_t gap = 100 * kSecond) {
  const TimeSpan span{static_cast<std::int64_t>(from_s * 1e9),
                      static_cast<std::int64_t>(to_s * 1e9)};
  return span_energy(samples, {&span, 1}, gap)[0];
}

TEST(StepEnergy, ByHand) {
  const std::vector<PowerSample> s = {{0, 100}, {kSecond, 200}, {3 * kSecond, 400}};
  EXPECT_DOUBLE_EQ(one(s, 0.5, 1).value(), 87.5);
  EXPECT_DOUBLE_EQ(one(s, 0, 3).value(), 150 + 600);
  EXPECT_DOUBLE_EQ(one(s, 0.5, 2).value(), 87.5 + 250); // 1 s from 200 to 300 W
  EXPECT_DOUBLE_EQ(one(s, 2, 2.5).value(), 162.5);      // 0.5 s from 300 to 350 W
  EXPECT_DOUBLE_EQ(one(s, 1, 1).value(), 0);
}

TEST(StepEnergy, NotMeasuredIsNone) {
  const std::vector<PowerSample> s = {{kSecond, 100}, {2 * kSecond, 100}, {9 * kSecond, 100}};
  EXPECT_FALSE(one(s, 0.5, 1.5).has_value()) << "before the first sample";
  EXPECT_FALSE(one(s, 8, 9.5).has_value()) << "behind the last";
  EXPECT_FALSE(one(s, 1.5, 3, 2 * kSecond).has_value()) << "into a gap";
  EXPECT_TRUE(one(s, 1.25, 2, 2 * kSecond).has_value()) << "up to it";
  EXPECT_FALSE(one(s, 2, 1.5).has_value());
  EXPECT_FALSE(one({}, 0, 1).has_value());
  EXPECT_FALSE(one({{0, 1}}, 0, 0).has_value());
}

TEST(StepEnergy, StepsAddUpToTheWhole) {
  std::mt19937 random(7);
  std::vector<PowerSample> s;
  std::int64_t t = 0;
  for (int i = 0; i < 200; ++i) {
    s.push_back({t, static_cast<double>(random() % 700)});
    t += 1 + static_cast<std::int64_t>(random() % 100'000'000);
  }
  double whole = 0; // the plain trapezoid
  for (std::size_t i = 1; i < s.size(); ++i)
    whole += static_cast<double>(s[i].unix_ns - s[i - 1].unix_ns) / 1e9 *
             (s[i].watts + s[i - 1].watts) / 2;
  std::vector<TimeSpan> steps;
  for (std::int64_t from = 0; from < s.back().unix_ns;) {
    const std::int64_t to =
        std::min(s.back().unix_ns, from + 1 + static_cast<std::int64_t>(random() % 300'000'000));
    steps.push_back({from, to});
    from = to;
  }
  double sum = 0;
  for (const auto& joules : span_energy(s, steps, kSecond))
    sum += joules.value();
  EXPECT_NEAR(sum, whole, 1e-6 * whole);
}

} // namespace
} // namespace rankscope
