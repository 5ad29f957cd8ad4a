#include "model/step_energy.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<double> joules_of(const std::vector<PowerSample>& samples, double from_s, double to_s,
                                std::int64_t gap = 100 * kSecond) {
  const TimeSpan span{static_cast<std::int64_t>(from_s * 1e9),
                      static_cast<std::int64_t>(to_s * 1e9)};
  const auto energy = span_energy(samples, {&span, 1}, gap)[0];
  return energy ? std::optional(energy->joules) : std::nullopt;
}

TEST(StepEnergy, ByHand) {
  const std::vector<PowerSample> s = {{0, 100}, {kSecond, 200}, {3 * kSecond, 400}};
  EXPECT_DOUBLE_EQ(joules_of(s, 0.5, 1).value(), 87.5);
  EXPECT_DOUBLE_EQ(joules_of(s, 0, 3).value(), 150 + 600);
  EXPECT_DOUBLE_EQ(joules_of(s, 0.5, 2).value(), 87.5 + 250); // 1 s from 200 to 300 W
  EXPECT_DOUBLE_EQ(joules_of(s, 2, 2.5).value(), 162.5);      // 0.5 s from 300 to 350 W
  EXPECT_DOUBLE_EQ(joules_of(s, 1, 1).value(), 0);
}

TEST(StepEnergy, NotMeasuredIsNone) {
  const std::vector<PowerSample> s = {{kSecond, 100}, {2 * kSecond, 100}, {9 * kSecond, 100}};
  EXPECT_FALSE(joules_of(s, 0.5, 1.5).has_value()) << "before the first sample";
  EXPECT_FALSE(joules_of(s, 8, 9.5).has_value()) << "behind the last";
  EXPECT_FALSE(joules_of(s, 1.5, 3, 2 * kSecond).has_value()) << "into a gap";
  EXPECT_TRUE(joules_of(s, 1.25, 2, 2 * kSecond).has_value()) << "up to it";
  EXPECT_FALSE(joules_of(s, 2, 1.5).has_value());
  EXPECT_FALSE(joules_of({}, 0, 1).has_value());
  EXPECT_FALSE(joules_of({{0, 1}}, 0, 0).has_value());
}

// HA-B1: the load has the same period as the sampling, so each sample is at its maximum: 700 W in
// the samples, but 350 W on average.
TEST(StepEnergy, TheCounterGivesTheEnergyAndTheSamplesItsShape) {
  std::vector<PowerSample> s;
  for (int i = 0; i <= 10; ++i)
    s.push_back({i * kSecond, 700, 350.0 * i});
  EXPECT_NEAR(joules_of(s, 0, 10).value(), 3500, 1e-6);
  EXPECT_NEAR(joules_of(s, 2.5, 4).value(), 525, 1e-6);
  const TimeSpan span{0, 3 * kSecond};
  const auto energy = span_energy(s, {&span, 1}, 2 * kSecond)[0];
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->counted_ns, energy->ns);
  EXPECT_FALSE(is_aliased(energy->joules, energy->low, energy->high));
  // within a second, the samples give the shape: 100 W rising to 300 W are 200 J, but the counter
  // has 400 J
  EXPECT_NEAR(joules_of({{0, 100, 0}, {kSecond, 300, 400}}, 0, 0.5).value(), 2 * 75, 1e-9);
  // samples of 0 W give no shape
  EXPECT_NEAR(joules_of({{0, 0, 0}, {kSecond, 0, 400}}, 0, 0.5).value(), 200, 1e-9);
}

// HA-B8: 250 W; the counter falls to 0 between 4 s and 5 s.
TEST(StepEnergy, AResetOfTheCounterIsBridgedByTheSamples) {
  std::vector<PowerSample> s;
  for (int i = 0; i <= 8; ++i)
    s.push_back({i * kSecond, 250, i <= 4 ? 5000 + 250.0 * i : 250.0 * (i - 5)});
  EXPECT_NEAR(joules_of(s, 0, 8).value(), 2000, 1e-6);
}

TEST(StepEnergy, ACounterThatChangesLessOftenThanItIsRead) {
  // 100 W, sampled as 120 W every second; the counter changes at 2, 5 and 8 s
  std::vector<PowerSample> s;
  for (int i = 0; i <= 9; ++i)
    s.push_back({i * kSecond, 120, i < 2 ? 0.0 : i < 5 ? 200.0 : i < 8 ? 500.0 : 800.0});
  EXPECT_NEAR(joules_of(s, 2, 8).value(), 600, 1e-6);
  EXPECT_NEAR(joules_of(s, 3, 4).value(), 100, 1e-6);
  EXPECT_NEAR(joules_of(s, 0, 1).value(), 120, 1e-6)
      << "when the counter took its first value is unknown";
}

TEST(StepEnergy, PowerThatMovesAsFastAsTheSamplesIsARange) {
  std::vector<PowerSample> s;
  for (int i = 0; i <= 10; ++i)
    s.push_back({i * kSecond, i % 2 == 0 ? 100.0 : 700.0});
  const TimeSpan span{0, 10 * kSecond};
  const auto energy = span_energy(s, {&span, 1}, 2 * kSecond)[0];
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->low, 1000, 1e-6);
  EXPECT_NEAR(energy->high, 7000, 1e-6);
  EXPECT_TRUE(is_aliased(energy->joules, energy->low, energy->high));
  EXPECT_FALSE(is_aliased(100, 96, 104));
}

TEST(StepEnergy, StepsAddUpToTheWhole) {
  std::mt19937 random(7);
  std::vector<PowerSample> s;
  std::int64_t t = 0;
  for (int i = 0; i < 200; ++i) {
    s.push_back({t, static_cast<double>(random() % 700)});
    t += 1 + static_cast<std::int64_t>(random() % 100'000'000);
  }
  double total = 0; // sum by the trapezoidal rule
  for (std::size_t i = 1; i < s.size(); ++i)
    total += static_cast<double>(s[i].unix_ns - s[i - 1].unix_ns) / 1e9 *
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
    sum += joules.value().joules;
  EXPECT_NEAR(sum, total, 1e-6 * total);
}

} // namespace
} // namespace rankscope
