// Tests findings about two sweeps: direction, interval and level of the differences.
#include "findings/sweep_pair_findings.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

const SweepPair kPair{"A", "B", 4};

TEST(SweepPairFindings, TheDirectionIsThatOfTheDifference) {
  SweepDifference d;
  d.shared = 2;
  d.steps = 12;
  d.base_ms = 100;
  d.test_ms = 98;
  d.difference = MeanDifference{-2, 0.5};
  const std::vector<Finding> found = sweep_time_findings(kPair, TimeKind::kTotal, d);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "changed-sweep");
  EXPECT_EQ(
      found[0].sentence(),
      "total_time of B is 2.00 ms shorter per step than that of A (2.0 %). 95 % CI 1.50 to 2.50 ms "
      "over 4 comparisons; 98.000 against 100.000 ms over 2 shared configurations; 12 steps. "
      "Repeat the runs to confirm the result: the interval does not include differences between "
      "runs.");
  EXPECT_EQ(found[0].value, -2);
  EXPECT_EQ(found[0].low, -2.5);
  EXPECT_FALSE(found[0].cost_ms);
  d.difference = MeanDifference{2, 0.5};
  EXPECT_NE(sweep_time_findings(kPair, TimeKind::kTotal, d)[0].headline.find("2.00 ms longer"),
            std::string::npos);
}

TEST(SweepPairFindings, NoDifferenceSaysWhatCouldHaveBeenSeen) {
  SweepDifference d;
  d.shared = 1;
  d.steps = 12;
  d.base_ms = d.test_ms = 100;
  d.difference = MeanDifference{-0.2, 0.5};
  const Finding same = sweep_time_findings(kPair, TimeKind::kIdle, d).at(0);
  EXPECT_EQ(same.rule, "same-sweep");
  EXPECT_EQ(same.kind, FindingKind::kNote);
  EXPECT_EQ(same.detectable, 0.5);
  d.difference.reset();
  EXPECT_EQ(sweep_time_findings(kPair, TimeKind::kIdle, d).at(0).rule, "untested-sweep");
  d.shared = 0;
  EXPECT_TRUE(sweep_time_findings(kPair, TimeKind::kIdle, d).empty());
}

TEST(SweepPairFindings, TheRangeOfTimesIsNoClaim) {
  ConfigurationRow fast;
  fast.label = "fast";
  fast.mean_ms.fill(10);
  ConfigurationRow slow = fast;
  slow.label = "slow";
  slow.mean_ms.fill(12.5);
  ConfigurationRow unknown = fast;
  unknown.mean_ms.fill(NAN);
  const std::vector<Finding> found =
      time_range_findings("A", TimeKind::kIdle, std::vector{slow, unknown, fast});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::kNote);
  EXPECT_EQ(found[0].subject, "A: idle_time");
  EXPECT_EQ(found[0].value, 2.5);
  EXPECT_EQ(found[0].sentence(),
            "Mean idle_time of A: 10.0 to 12.5 ms. 10.000 ms with fast, 12.500 ms with slow; means "
            "over the ranks of 2 configurations, without a test.");
  EXPECT_EQ(time_range_findings("A", TimeKind::kIdle, std::vector{fast}).at(0).sentence(),
            "Mean idle_time of A: 10.0 ms. Its only configuration is fast.");
  EXPECT_TRUE(time_range_findings("A", TimeKind::kIdle, std::vector{unknown}).empty());
}

// 10 -> 12 and 20 -> 22: +20 % and +10 %, mean +15 %; a row that only one sweep has does not count.
TEST(SweepPairFindings, RowsHaveAMeanWithoutAnInterval) {
  const Finding found = sweep_row_findings(kPair, "collective latency", "collective",
                                           {{10, 12}, {20, 22}, {5, NAN}, {0, 3}})
                            .at(0);
  EXPECT_EQ(found.kind, FindingKind::kNote);
  EXPECT_NEAR(*found.value, 15, 1e-9);
  EXPECT_FALSE(found.low);
  EXPECT_EQ(found.sentence(),
            "Collective latency of B: 15.00 % larger than A, without a test. Mean "
            "over 2 shared collectives; collectives of one run are not "
            "independent, so there is no interval.");
}

} // namespace
} // namespace rankscope
