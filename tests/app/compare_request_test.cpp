// Tests how compare uses labels, folders and --fail-on.
#include "app/compare.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Names = std::vector<std::string>;

TEST(CompareRequest, FoldersAreNamedByWhatTellsThemApart) {
  EXPECT_EQ(folder_names({"/x/base", "/x/new/"}), (Names{"base", "new"}));
  EXPECT_EQ(folder_names({"/x/a/run", "/x/b/run"}), (Names{"a", "b"}));
  EXPECT_EQ(folder_names({"/x/a/256/run", "/x/a/512/run", "/x/b/256/run"}),
            (Names{"a_256", "a_512", "b_256"}));
  // the labels get a number later
  EXPECT_EQ(folder_names({"/x/run", "/x/run"}), (Names{"run", "run"}));
  EXPECT_EQ(folder_names({"/x/run", "/x/run/run"}), (Names{"run", "run"}));
}

TEST(CompareRequest, LabelsNameFoldersBelowTheOutput) {
  EXPECT_EQ(distinct_labels({"..", ".", "", "a/../../b", "a\nb"}),
            (Names{"run__", "run_", "run", "a_.._.._b", "a_b"}));
  EXPECT_EQ(distinct_labels({"run", "run", "run"}), (Names{"run", "run_2", "run_3"}));
  EXPECT_EQ(distinct_labels({"v1.2", "...v"}), (Names{"v1.2", "...v"}));
}

TEST(CompareRequest, MetricsOfConditionsAreKnownBeforehand) {
  for (const char* text : {"total_time>2%", "GPU_total_time>2%", "total>2%", "exposed_comm>5%",
                           "NCCL_bus_bandwidth>3%", "bus_bandwidth>3%", "micro_idle>1%"})
    EXPECT_TRUE(parse_fail_condition(text)) << text;
  const auto unknown = parse_fail_condition("bus_bandwith>3%");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_NE(unknown.error().what.find("; did you mean bus_bandwidth?"), std::string::npos);
  EXPECT_FALSE(parse_fail_condition("nonsense>3%"));
  EXPECT_FALSE(parse_fail_condition("total_time"));
}

/// Returns a run of one rank with these step times in ms.
ComparedRun run_of(const std::string& label, const std::vector<double>& steps_ms) {
  ComparedRun run;
  run.label = label;
  RankTimeline& timeline = run.ranks[0];
  std::int64_t step = 0;
  std::int64_t sum = 0;
  for (const double ms : steps_ms) {
    const auto ns = static_cast<std::int64_t>(ms * 1e6);
    timeline.step_ns[TimeKind::kTotal][step++] = ns;
    sum += ns;
  }
  timeline.kinds[TimeKind::kTotal] = {sum, 100};
  return run;
}

TEST(CompareRequest, OnlyWhatIsJudgedFails) {
  const auto outcome = [](const std::vector<double>& base, const std::vector<double>& test,
                          const char* condition) {
    return fail_outcome(compare_runs(run_of("a", base), {run_of("b", test)}, {}),
                        {*parse_fail_condition(condition)});
  };
  const FailOutcome slower = outcome({10, 10.1, 9.9}, {11, 11.1, 10.9}, "total_time>2%");
  ASSERT_EQ(slower.regressions.size(), 1U);
  EXPECT_TRUE(slower.unjudged.empty());
  EXPECT_TRUE(outcome({10, 10.1, 9.9}, {11, 11.1, 10.9}, "total_time>20%").regressions.empty());
  // twice as many steps take twice the total time, but each step takes only 1 % more; this was
  // reported as a regression of 102 %
  EXPECT_TRUE(outcome({10, 10.01, 9.99}, {10.1, 10.11, 10.09, 10.1, 10.11, 10.09}, "total_time>2%")
                  .regressions.empty());
  const FailOutcome single = outcome({10}, {20}, "total_time>2%");
  EXPECT_TRUE(single.regressions.empty());
  ASSERT_EQ(single.unjudged.size(), 1U);
  const FailOutcome absent = outcome({10, 10}, {20, 20}, "bus_bandwidth>2%");
  EXPECT_TRUE(absent.regressions.empty());
  ASSERT_EQ(absent.unjudged.size(), 1U);
  EXPECT_NE(absent.unjudged[0].find("not in both runs"), std::string::npos);
  ComparedRun other_rank = run_of("b", {20, 20.1, 19.9});
  other_rank.ranks[1] = other_rank.ranks[0];
  const FailOutcome ranks =
      fail_outcome(compare_runs(run_of("a", {10, 10.1, 9.9}), {other_rank}, {}),
                   {*parse_fail_condition("total_time>2%")});
  EXPECT_TRUE(ranks.regressions.empty());
  ASSERT_EQ(ranks.unjudged.size(), 1U);
  EXPECT_NE(ranks.unjudged[0].find("the runs have different ranks"), std::string::npos);
  // fewer but slower steps: the sentence is about the step times too
  const FailOutcome shorter = outcome({10, 10.1, 9.9, 10, 10.1}, {11, 11.1, 10.9}, "total_time>2%");
  ASSERT_EQ(shorter.regressions.size(), 1U);
  EXPECT_NE(shorter.regressions[0].find("the samples are 9.78 % worse"), std::string::npos)
      << shorter.regressions[0];
  const Finding& met = shorter.conditions.at(0).judged.finding;
  EXPECT_EQ(met.rule, "met-condition");
  EXPECT_EQ(met.headline, "Condition total_time>2% is met for b");
  EXPECT_NEAR(*met.value, 9.78, 0.01); // percent worse, so the interval is above 0
  EXPECT_GT(*met.low, 2);
  EXPECT_EQ(single.conditions.at(0).judged.finding.rule, "unjudged-condition");
  // a change from 0 has no percentage
  const FailOutcome appeared = outcome({0, 0, 0}, {1, 1.1, 0.9}, "total_time>500%");
  EXPECT_TRUE(appeared.regressions.empty());
  ASSERT_EQ(appeared.unjudged.size(), 1U);
  EXPECT_NE(appeared.unjudged[0].find("a change from 0 has no percentage"), std::string::npos);
}

TEST(CompareRequest, PercentagesAreFiniteNumbersFromZeroOn) {
  for (const char* good : {"total_time>0%", "total_time>2.5%", "total_time>007%"})
    EXPECT_TRUE(parse_fail_condition(good)) << good;
  for (const char* bad : {"total_time>nan%", "total_time>inf%", "total_time>-1%", "total_time>0x5%",
                          "total_time>1e2%", "total_time> 2%", "total_time>%", "total_time>2",
                          "total_time>2%%", ">2%", "total_time"})
    EXPECT_FALSE(parse_fail_condition(bad)) << bad;
}

} // namespace
} // namespace rankscope
