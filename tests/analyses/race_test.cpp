// Tests races of settings with generated data: the number of runs, the regret compared with the
// full grid, and the recommendations.
#include "analyses/sweep/race.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

struct Raced {
  RaceOutcome outcome;
  std::size_t runs = 0;
};

/// Runs a race of settings with these means, with noise per run and a drift that all runs of a
/// round have in common.
Raced race(const std::vector<double>& means, double noise, std::size_t rounds, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Race race(means.size(), 0, rounds);
  Raced out;
  while (!race.over()) {
    const double drift = 5 * normal(random);
    std::vector<std::optional<double>> times;
    for (const std::size_t setting : race.left())
      times.emplace_back(means[setting] + drift + noise * normal(random));
    out.runs += times.size();
    race.add_round(times);
  }
  out.outcome = race.outcome();
  return out;
}

TEST(Race, ByHand) {
  // Setting 0 is the default. Setting 1 is shorter by 2, 1.9, 2.1 and 2: mean 2, standard deviation
  // 0.0816. t with 3 degrees of freedom at 0.05 / (2 settings x 4 rounds) is 6.895, so the half
  // width is 6.895 x 0.0816 / 2 = 0.281.
  Race race(3, 0, 4);
  const std::vector<std::vector<std::optional<double>>> rounds = {
      {10.0, 8.0, 14.0}, {11.0, 9.1, 15.2}, {12.0, 9.9}, {10.0, 8.0}};
  for (const auto& times : rounds) {
    if (race.left().size() == 3 && times.size() == 2)
      FAIL() << "2 takes 6 and 6.1 longer than 1";
    race.add_round(times);
  }
  EXPECT_EQ(race.left(), (std::vector<std::size_t>{0, 1}));
  const RaceOutcome out = race.outcome();
  EXPECT_EQ(out.leader, 1U);
  ASSERT_TRUE(out.gain);
  EXPECT_NEAR(out.gain->difference, 2, 1e-9);
  EXPECT_NEAR(out.gain->half_width, 0.2815, 0.0002);
  EXPECT_TRUE(out.recommended);
}

// Equal differences are not certain: two of them give no interval; for more, the rounding of the
// values gives the standard deviation.
TEST(Race, EqualDifferencesAreNoCertainty) {
  Race race(2, 0, 4);
  race.add_round({10.0, 8.0});
  race.add_round({10.0, 8.0});
  EXPECT_FALSE(race.outcome().gain);
  EXPECT_FALSE(race.over());
  race.add_round({10.0, 8.0});
  // values are rounded to 1: a difference has a standard deviation of sqrt(1 / 6); t with 2 degrees
  // of freedom at 0.05 / 4
  ASSERT_TRUE(race.outcome().gain);
  EXPECT_NEAR(race.outcome().gain->half_width, 8.860 * std::sqrt(1.0 / 6 / 3), 0.001);
}

TEST(Race, AFailedRunLeavesAndTheDefaultStays) {
  Race race(2, 0, 5);
  race.add_round({10.0, std::nullopt});
  EXPECT_EQ(race.left(), std::vector<std::size_t>{0});
  EXPECT_TRUE(race.over());
  EXPECT_EQ(race.outcome().leader, 0U);
  EXPECT_FALSE(race.outcome().recommended);
}

// Setting 2 is dropped because it is worse than setting 1. When setting 1 fails, setting 2 takes
// part again: it is better than the default.
TEST(Race, ASettingReturnsWhenTheLeaderThatDroppedItFails) {
  Race race(3, 0, 8);
  race.add_round({20.0, 10.0, 15.0});
  race.add_round({21.0, 11.1, 16.2});
  EXPECT_EQ(race.left(), (std::vector<std::size_t>{0, 1}));
  race.add_round({20.0, std::nullopt});
  EXPECT_EQ(race.left(), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(race.outcome().leader, 2U);
  EXPECT_EQ(race.outcome().shared, 2U);
}

TEST(Race, ADefaultWithoutAValueIsComparedWithNothing) {
  Race race(2, 0, 3);
  race.add_round({std::nullopt, 10.0});
  race.add_round({std::nullopt, 11.0});
  EXPECT_EQ(race.outcome().leader, 0U);
  EXPECT_EQ(race.outcome().shared, 0U);
}

TEST(Race, WithoutADifferenceOneInTwentyIsRecommendedAtMost) {
  std::size_t recommended = 0;
  for (unsigned seed = 0; seed < 1000; ++seed)
    recommended += race(std::vector<double>(8, 100.0), 1, 8, seed).outcome.recommended ? 1U : 0U;
  EXPECT_LE(recommended, 50U);
}

TEST(Race, NothingWorseThanTheDefaultIsRecommended) {
  // the default is better than the others by twice the noise or more
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Raced run = race({100, 102, 103, 110}, 1, 8, seed);
    EXPECT_FALSE(run.outcome.recommended) << seed;
  }
}

TEST(Race, RegretAgainstTheWholeGridIsSmallAndRunsAreSaved) {
  // surfaces of 4 x 4 settings: a paraboloid with its minimum at a random place, and noise of 1 %
  std::mt19937 random(7);
  double lost = 0;
  double runs = 0;
  std::size_t found = 0;
  constexpr int kSurfaces = 200;
  constexpr std::size_t kRounds = 8;
  for (int s = 0; s < kSurfaces; ++s) {
    std::uniform_real_distribution<double> place(0, 3);
    const double x = place(random);
    const double y = place(random);
    std::vector<double> means;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        means.push_back(100 + 4 * (i - x) * (i - x) + 4 * (j - y) * (j - y));
    const Raced run = race(means, 1, kRounds, static_cast<unsigned>(s));
    const double best = *std::min_element(means.begin(), means.end());
    const double chosen = run.outcome.recommended ? means[run.outcome.leader] : means[0];
    lost += chosen - best; // approximately percent of a step
    runs += static_cast<double>(run.runs);
    found += chosen - best < 1 ? 1U : 0U;
  }
  lost /= kSurfaces;
  runs /= kSurfaces;
  EXPECT_LT(lost, 0.5) << lost;
  EXPECT_GE(found, 180U);
  EXPECT_LT(runs, 0.7 * 16 * kRounds) << runs;
  RecordProperty("regret_percent", std::to_string(lost));
  RecordProperty("runs", std::to_string(runs));
  RecordProperty("found", static_cast<int>(found));
}

} // namespace
} // namespace rankscope
