// Tests findings about the best setting, over repeated runs and in a search.
#include "findings/setting_findings.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

const SettingMetric kSteps{"ms per step", false};

// b - a: means 10 and 12, variances 0.01: half width of Welch's interval at 0.05 / 3 with 4 degrees
// of freedom: 3.961 x sqrt(0.01 / 3 x 2) = 0.323
const RepeatedSetting kA{"a", {{1, 9.9}, {2, 10.0}, {3, 10.1}}};
const RepeatedSetting kB{"b", {{1, 11.9}, {2, 12.0}, {3, 12.1}}};
const RepeatedSetting kC{"c", {{1, 9.95}, {2, 10.05}, {3, 10.15}}};

TEST(SettingFindings, TheBestAndByHowMuchTheOthersAreWorse) {
  const std::vector<Finding> found = setting_findings({kB, kA, kC}, kSteps);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, "best-setting");
  EXPECT_EQ(found[0].subject, "a and c");
  EXPECT_EQ(found[0].sentence(),
            "1 setting does not differ significantly from a (best mean). a and c; the "
            "best mean is 10.0 ms per step. Intervals: 95 % CI over 3 comparisons; a sample is a "
            "run; 3 runs each.");
  EXPECT_EQ(found[1].rule, "worse-setting");
  EXPECT_EQ(found[1].headline, "b takes 2.00 ms per step longer than a");
  EXPECT_NEAR(*found[1].value, 2, 1e-9);
  EXPECT_NEAR(*found[1].low, 1.677, 1e-3);
  EXPECT_NEAR(*found[1].high, 2.323, 1e-3);
  EXPECT_EQ(found[1].cost_ms, found[1].value);
  const std::vector<Finding> winner = setting_findings({kA, kB}, {"", false});
  EXPECT_EQ(winner[0].headline, "a is best: 10.0");
  EXPECT_EQ(winner[1].headline, "b is 2.00 higher than a");
  EXPECT_FALSE(winner[1].cost_ms);
  const std::vector<Finding> throughput = setting_findings({kA, kB}, {"", true});
  EXPECT_EQ(throughput[0].headline, "b is best: 12.0");
  EXPECT_EQ(throughput[1].headline, "a is 2.00 lower than b");
  EXPECT_GT(*throughput[1].low, 0); // the sign agrees with the word
  EXPECT_EQ(setting_findings({kA, kC}, kSteps)[0].headline,
            "No setting differs significantly from a (best mean)");
}

// Before, 105.5 against 85.5 was "106 against 85.5", which contradicts the difference.
TEST(SettingFindings, TheTwoMeansShowTheDifference) {
  const auto evidence = [](double worse, double best) {
    const auto runs = [](const char* label, double mean) {
      return RepeatedSetting{
          label,
          {{1, mean * 0.99}, {2, mean}, {3, mean * 1.01}, {4, mean * 1.01}, {5, mean * 0.99}}};
    };
    return setting_findings({runs("a", worse), runs("b", best)}, kSteps).at(1).evidence;
  };
  EXPECT_NE(evidence(105.5, 85.5).find("; 105.5 against 85.5 ms per step"), std::string::npos)
      << evidence(105.5, 85.5);
  EXPECT_NE(evidence(200.25, 0.5).find("; 200.250 against 0.500 ms per step"), std::string::npos)
      << evidence(200.25, 0.5);
}

// c - b is 2.0 with little scatter, but only a, whose runs scatter, is tested against both.
TEST(SettingFindings, OnlyTheBestIsTestedAgainstTheOthers) {
  const RepeatedSetting a{"a", {{1, 60}, {2, 140}, {3, 90}, {4, 114}}};
  const RepeatedSetting b{"b", {{1, 101.9}, {2, 102}, {3, 102.1}, {4, 102}}};
  const RepeatedSetting c{"c", {{1, 104}, {2, 104.1}, {3, 103.9}, {4, 104}}};
  const std::vector<Finding> found = setting_findings({a, b, c}, kSteps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].headline, "No setting differs significantly from a (best mean)");
}

// HA-M4: settings can be compared by energy.
TEST(SettingFindings, EnergyHasRulesAndWordsOfItsOwn) {
  SettingMetric energy;
  energy.unit = "J per step";
  energy.is_energy = true;
  const std::vector<Finding> found = setting_findings({kB, kA}, energy);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, "least-energy");
  EXPECT_EQ(found[0].headline, "a uses the least energy: 10.0 J per step");
  EXPECT_EQ(found[1].rule, "more-energy");
  EXPECT_EQ(found[1].headline, "b uses 2.00 J per step more than a");
  EXPECT_NEAR(*found[1].low, 1.677, 0.2);
  EXPECT_FALSE(found[1].cost_ms);
  EXPECT_EQ(setting_findings({kA, kC}, energy)[0].headline,
            "No setting differs significantly from a (least energy)");
  EXPECT_EQ(setting_findings({kA, kB, kC}, energy)[0].headline,
            "1 setting does not differ significantly from a (least energy)");
  const std::vector<Finding> once = setting_findings({{"a", {{1, 5}}}, {"b", {{1, 6}}}}, energy);
  ASSERT_EQ(once.size(), 1U);
  EXPECT_EQ(once[0].headline,
            "The energy of the settings is not compared: fewer than two of them have two runs");
  EXPECT_EQ(once[0].evidence, "a: 5.00 J per step and b: 6.00 J per step");
}

TEST(SettingFindings, OneSettingHasNoVerdict) {
  EXPECT_TRUE(setting_findings({kA}, kSteps).empty());
  EXPECT_TRUE(setting_findings({kA, {"failed", {}}}, kSteps).empty());
}

// Some repeats failed: a setting with one run is named, and the others are compared.
TEST(SettingFindings, ASettingWithASingleRunIsNotCompared) {
  const RepeatedSetting two{"b", {{1, 12.0}, {2, 12.1}}};
  const RepeatedSetting x{"x", {{2, 1.0}}};
  const std::vector<Finding> found = setting_findings({two, x, kA}, kSteps);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].headline, "a is best: 10.0 ms per step");
  EXPECT_NE(found[0].evidence.find("2 to 3 runs each"), std::string::npos);
  EXPECT_EQ(found[1].headline, "b takes 2.05 ms per step longer than a");
  EXPECT_EQ(found[2].rule, "untested-settings");
  EXPECT_EQ(found[2].evidence, "x: 1.00 ms per step");
  const std::vector<Finding> none = setting_findings({x, kA}, kSteps);
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].rule, "untested-settings");
  EXPECT_NE(none[0].headline.find("fewer than two of them have two runs"), std::string::npos);
}

// ST-C11: equal repeats gave an interval of width 0, so every difference was significant.
TEST(SettingFindings, EqualRunsAreNoCertainty) {
  const SettingMetric metric{"", false};
  const RepeatedSetting x{"x", {{1, 10}, {2, 10}}};
  const RepeatedSetting y{"y", {{1, 20}, {2, 20}}};
  const std::vector<Finding> two = setting_findings({x, y}, metric);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two[0].sentence(),
            "The settings are not compared: their two runs are exactly equal. x: 10.0 and y: 20.0; "
            "equal runs do not show how much runs scatter. Check that each run does its own "
            "measurement; then use --repeats 3 or more.");
  // three runs: values rounded to 10 have a standard deviation of 2.89; t with 4 degrees of freedom
  // is 2.776
  const std::vector<Finding> three = setting_findings(
      {{"x", {{1, 10}, {2, 10}, {3, 10}}}, {"y", {{1, 20}, {2, 20}, {3, 20}}}}, metric);
  ASSERT_EQ(three.size(), 2U);
  EXPECT_NEAR(*three[1].high - *three[1].low, 2 * 2.776 * 10 / std::sqrt(12.0) * std::sqrt(2.0 / 3),
              0.01);
  // two equal runs get the variance of all runs
  const RepeatedSetting a{"a", {{1, 100}, {2, 100}}};
  const RepeatedSetting b{"b", {{1, 104}, {2, 104}}};
  const RepeatedSetting c{"c", {{1, 100}, {2, 103}}};
  EXPECT_EQ(setting_findings({a, b, c}, metric)[0].headline,
            "No setting differs significantly from a (best mean)");
}

TEST(SettingFindings, AnOutlierIsARunFarFromTheOthers) {
  const RepeatedSetting with_outlier{"d", {{1, 10.0}, {2, 10.1}, {3, 20.0}, {4, 9.9}, {5, 10.0}}};
  const std::vector<Finding> found = setting_findings({with_outlier}, kSteps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "outlier-run");
  EXPECT_EQ(found[0].headline, "Repeat 3 of d is an outlier: 20.0 ms per step");
  EXPECT_TRUE(setting_findings({{"d", {{1, 10.0}, {2, 10.1}, {3, 20.0}}}}, kSteps).empty());
}

TEST(SettingFindings, ASearchRecommendsOnlyWhatIsSignificantlyBetter) {
  Race race(2, 0, 2);
  const SettingMetric ms{"ms", false};
  EXPECT_EQ(search_finding(race, {"d", "x"}, 0, ms).sentence(),
            "No setting is recommended in place of d. The default has no value, so no setting is "
            "compared with it.");
  race.add_round({10.0, 8.0});
  EXPECT_NE(search_finding(race, {"d", "x"}, 0, ms).evidence.find("needs two rounds"),
            std::string::npos);
  race.add_round({10.0, 8.01});
  // differences 2 and 1.99: half width t(1 degree of freedom, 0.05 / 2) 25.45 x 0.00707 / sqrt 2 =
  // 0.127
  const Finding found = search_finding(race, {"d", "x"}, 0, ms);
  EXPECT_EQ(found.rule, "recommended-setting");
  EXPECT_EQ(found.kind, FindingKind::kAdvice);
  EXPECT_EQ(found.headline, "x is recommended: 2.00 ms shorter than the default d");
  EXPECT_NEAR(*found.low, 1.868, 1e-3);
  EXPECT_NEAR(*found.high, 2.122, 1e-3);
  Race unsure(2, 0, 2);
  unsure.add_round({10.0, 9.0});
  unsure.add_round({10.0, 9.9});
  const Finding none = search_finding(unsure, {"d", "x"}, 0, ms);
  EXPECT_EQ(none.rule, "no-recommendation");
  EXPECT_TRUE(none.evidence.starts_with(
      "x leads: 0.550 ms shorter than the default, which is not significant; "))
      << none.evidence;
}

TEST(SettingFindings, ASearchSaysWhyNothingIsCompared) {
  const SettingMetric ms{"ms", false};
  Race equal(2, 0, 2);
  equal.add_round({10.0, 8.0});
  equal.add_round({10.0, 8.0});
  EXPECT_EQ(search_finding(equal, {"d", "x"}, 0, ms).evidence,
            "x leads, but two equal differences do not show how much rounds scatter");
  Race failed(2, 0, 4);
  failed.add_round({std::nullopt, 8.0});
  failed.add_round({std::nullopt, 8.1});
  EXPECT_EQ(search_finding(failed, {"d", "x"}, 0, ms).evidence,
            "The default has no value, so no setting is compared with it");
}

} // namespace
} // namespace rankscope
