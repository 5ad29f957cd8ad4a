// Which setting is best, over runs and in a race.
#include "app/sweep_verdict.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(SweepVerdict, TheBestByHowMuchAndWhatCannotBeTold) {
  // b - a: means 10 and 12, variances 0.01: half width of Welch at 0.05 / 3 with 4 degrees:
  // 3.961 x sqrt(0.01 / 3 x 2) = 0.323
  const RepeatedSetting a{"a", {{1, 9.9}, {2, 10.0}, {3, 10.1}}};
  const RepeatedSetting b{"b", {{1, 11.9}, {2, 12.0}, {3, 12.1}}};
  const RepeatedSetting c{"c", {{1, 9.95}, {2, 10.05}, {3, 10.15}}};
  const auto told = verdict({b, a, c}, " ms a step", false);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0], "a and c cannot be told apart, from 10.000 ms a step (Welch, 95 % over 3 "
                     "comparisons, a sample is a run, 3 runs each)");
  EXPECT_EQ(told[1], "b takes 2.000 ms a step longer (1.677 to 2.323)");
  const auto winner = verdict({a, b}, "", false);
  EXPECT_EQ(winner[0].find("a is best: 10.000 ("), 0U) << winner[0];
  EXPECT_TRUE(verdict({a}, "", false).empty());
  EXPECT_TRUE(verdict({a, {"failed", {}}}, "", false).empty());
  EXPECT_NE(verdict({{"x", {{1, 1.0}}}, b}, "", false)[0].find("fewer than two runs"),
            std::string::npos);
}

// Repeats that failed: what they left is no reason to say nothing of the others.
TEST(SweepVerdict, ASettingOfOneRunIsNamedAndTheOthersAreCompared) {
  const RepeatedSetting a{"a", {{1, 9.9}, {2, 10.0}, {3, 10.1}}};
  const RepeatedSetting b{"b", {{1, 12.0}, {2, 12.1}}};
  const RepeatedSetting x{"x", {{2, 1.0}}};
  const auto told = verdict({b, x, a}, " ms", false);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0], "a is best: 10.000 ms (Welch, 95 % over 1 comparison, a sample is a run, "
                     "2 to 3 runs each)");
  EXPECT_EQ(told[1].find("b takes 2.050 ms longer ("), 0U) << told[1];
  EXPECT_EQ(told[2], "of one run nothing is told from chance: x (1.000 ms)");
}

// A trace of five steps and one that nobody marked steps in have no figure in common but the whole.
TEST(SweepVerdict, FiguresAreOfStepsWhereEachRunHasSteps) {
  const auto configuration = [](const char* value) {
    Configuration out;
    out.label = std::string("x=") + value;
    out.parameters = {{"x", value}};
    return out;
  };
  const auto record = [&](const char* value, int steps) {
    RankRecord out;
    out.key.configuration = configuration(value);
    constexpr auto kTotal = static_cast<std::size_t>(TimeKind::kTotal);
    out.time_ns[kTotal] = 40'000'000;
    for (int s = 0; s < steps; ++s) {
      StepTimes step;
      step.step = s;
      step.ns[kTotal] = 7'000'000;
      out.steps.push_back(step);
    }
    return out;
  };
  std::vector<SweepSetting> settings(2);
  for (std::size_t i = 0; i < 2; ++i) {
    settings[i].configuration = configuration(i == 0 ? "1" : "2");
    settings[i].folder = settings[i].configuration.label;
  }
  const RepeatedFigures steps = repeated_settings({record("1", 5), record("2", 5)}, settings);
  EXPECT_STREQ(steps.unit, " ms a step");
  EXPECT_DOUBLE_EQ(steps.settings.at(0).runs.at(1), 7);
  const RepeatedFigures mixed = repeated_settings({record("1", 5), record("2", 0)}, settings);
  EXPECT_STREQ(mixed.unit, " ms a trace");
  EXPECT_DOUBLE_EQ(mixed.settings.at(0).runs.at(1), 40);
  EXPECT_DOUBLE_EQ(mixed.settings.at(1).runs.at(1), 40);
}

TEST(SweepVerdict, OfARace) {
  Race race(2, 0, 2);
  EXPECT_EQ(race_verdict(race, {"d", "x"}, 0, "")[0],
            "nothing is recommended: the default d leads after 0 rounds");
  race.add_round({10.0, 8.0});
  EXPECT_NE(race_verdict(race, {"d", "x"}, 0, "")[0].find("fewer than two rounds"),
            std::string::npos);
  race.add_round({10.0, 8.01});
  // differences 2 and 1.99: half width t(1 degree, 0.05 / 2) 25.45 x 0.00707 / sqrt 2 = 0.127
  EXPECT_EQ(race_verdict(race, {"d", "x"}, 0, " ms")[0],
            "x is recommended: 1.995 ms shorter than the default d (1.868 to 2.122; paired by "
            "round, 2 rounds, Student's t, 95 % over all settings and rounds)");
}

} // namespace
} // namespace rankscope
