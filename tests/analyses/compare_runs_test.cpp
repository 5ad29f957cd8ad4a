// compare: the formulas of both comparisons and the judgement by hand-worked cases.
#include "analyses/compare/compare_runs.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

RankTimeline timeline(double total, double memcpy_ms, bool idle) {
  Table t("gpu_timeline", {{"type"}, {"time ms"}, {"percent"}});
  t.add_row({"total_time", total, 100.0});
  t.add_row({"total_memcpy_time", memcpy_ms, 100 * memcpy_ms / total});
  if (idle)
    t.add_row({"idle_time", 1.0, 100 / total});
  return {std::move(t), {}};
}

ComparedRun run_named(const char* label) {
  ComparedRun run;
  run.label = label;
  return run;
}

TEST(CompareRuns, FormulasSignsAndRowsOfOneRunOnly) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.ranks.emplace(0, timeline(100, 0, true));
  a.ranks.emplace(1, timeline(200, 0, true));
  b.ranks.emplace(0, timeline(90, 5, false));
  b.ranks.emplace(2, timeline(150, 0, false));
  const std::vector<Table> tables = compare_timelines(a, b, 1);
  ASSERT_EQ(tables.size(), 2U);
  const Table& s = tables[0]; // idle_time, total_memcpy_time, total_time
  ASSERT_EQ(s.rows(), 3U);
  EXPECT_EQ(s.at(0, "status").text, "only in a");
  EXPECT_TRUE(s.at(0, "percent_change").is_null());
  EXPECT_EQ(s.at(1, "status").text, "New");
  EXPECT_TRUE(s.at(1, "percent_change").is_null());
  EXPECT_TRUE(s.at(1, "ratio").is_null());
  EXPECT_DOUBLE_EQ(s.at(1, "diff_time_ms").number(), 2.5);
  EXPECT_DOUBLE_EQ(s.at(2, "a_time_ms").number(), 150);
  EXPECT_DOUBLE_EQ(s.at(2, "b_time_ms").number(), 120);
  EXPECT_DOUBLE_EQ(s.at(2, "diff_time_ms").number(), -30);
  EXPECT_DOUBLE_EQ(s.at(2, "percent_change").number(), 20); // faster is positive
  EXPECT_DOUBLE_EQ(s.at(2, "ratio").number(), 0.8);
  EXPECT_EQ(s.at(2, "status").text, "Better");
  EXPECT_TRUE(s.at(2, "ci95_low_percent").is_null()); // no steps, no noise
  EXPECT_EQ(s.at(2, "a_steps").i, 0);
  const Table& r = tables[1];
  ASSERT_EQ(r.rows(), 8U); // ranks 0 and 1 with idle_time, rank 2 without
  EXPECT_EQ(r.at(3, "status").text, "only in a");
  EXPECT_EQ(r.at(7, "rank").i, 2);
  EXPECT_EQ(r.at(7, "status").text, "only in b");
}

TEST(CompareRuns, JudgementByThresholdAndNoise) {
  const auto status = [](double base, double test) { return judge(base, test, {}, {}, 1).status; };
  EXPECT_EQ(status(100, 101.5), "Worse");
  EXPECT_EQ(status(100, 99.5), "Similar");
  EXPECT_EQ(status(100, 98.5), "Better");
  EXPECT_EQ(status(0, 0), "Similar");
  EXPECT_EQ(status(0, 1), "New");
  EXPECT_EQ(judge(100, 110, {}, {}, 1, Better::kHigher).status, "Better"); // a bandwidth
  // 5 % more, but the steps scatter by more than that
  EXPECT_EQ(judge(30, 31.5, {8, 10, 12}, {8.5, 10.5, 12.5}, 1).status, "Similar");
  const Judgement clear = judge(30, 31.5, {9.99, 10, 10.01}, {10.49, 10.5, 10.51}, 1);
  EXPECT_EQ(clear.status, "Worse");
  EXPECT_NEAR(*clear.step_change, -5, 1e-9);
  EXPECT_LT(*clear.high, 0);
  EXPECT_EQ(clear.samples_base, 3U);
  // significant but below the threshold
  EXPECT_EQ(judge(30, 30.15, {9.999, 10, 10.001}, {10.049, 10.05, 10.051}, 1).status, "Similar");
  // a longer window is not slower: the steps take the same time
  EXPECT_EQ(judge(30, 40, {9.9, 10, 10.1}, {9.9, 10, 10.1, 10}, 1).status, "Similar");
}

TEST(CompareRuns, MeanOverRanksUsesStepsThatAllRanksHave) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  for (ComparedRun* run : {&a, &b})
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      RankTimeline t = timeline(30, 0, false);
      for (std::int64_t step = 0; step < 3; ++step)
        t.step_ms["total_time"][step] = 10;
      run->ranks.emplace(rank, std::move(t));
    }
  b.ranks.at(1).step_ms["total_time"].erase(1);
  const Table s = compare_timelines(a, b, 1).front();
  EXPECT_EQ(s.at(1, "a_steps").i, 3);
  EXPECT_EQ(s.at(1, "b_steps").i, 2);
}

TEST(CompareRuns, SummaryOfARunAndGeometricMeansWithoutZeros) {
  ComparedRun a = run_named("a");
  a.ranks.emplace(0, timeline(100, 0, false));
  a.ranks.emplace(3, timeline(400, 4, false));
  const Report mean = timeline_summary(a, false);
  const Table& s = *mean.find("Summary");
  EXPECT_DOUBLE_EQ(s.at(1, "time ms").number(), 250);
  EXPECT_EQ(s.at(1, "num_ranks").i, 2);
  EXPECT_EQ(s.at(1, "slowest_rank").i, 3);
  EXPECT_DOUBLE_EQ(mean.find("Per_Rank_Time_ms")->at(1, "3").number(), 400);
  EXPECT_EQ(mean.find("All_Ranks_Combined")->rows(), 4U);
  const Report geo = timeline_summary(a, true);
  EXPECT_NEAR(geo.find("Summary")->at(1, "time ms").number(), 200, 1e-9);
  EXPECT_NEAR(geo.find("Summary")->at(0, "time ms").number(), 4, 1e-9); // the zero is left out
}

TEST(CompareRuns, CombinedSheetsHoldBothSidesAndOddColumns) {
  Report left;
  left.tables.emplace_back("s", std::vector<Column>{{"key"}, {"x"}});
  left.tables.back().add_row({"k", 1});
  left.tables.emplace_back("only_left", std::vector<Column>{{"z"}});
  left.tables.back().add_row({5});
  Report right;
  right.tables.emplace_back("s", std::vector<Column>{{"key"}, {"y"}});
  right.tables.back().add_row({"k", 2});
  const Report both = combine_reports({&left, &right}, {"L", "R"});
  const Table& s = *both.find("s");
  ASSERT_EQ(s.cols(), 4U); // key, x, y, source
  ASSERT_EQ(s.rows(), 2U);
  EXPECT_EQ(s.at(1, "source").text, "R");
  EXPECT_TRUE(s.at(1, "x").is_null());
  EXPECT_EQ(s.at(1, "y").i, 2);
  ASSERT_NE(both.find("only_left"), nullptr);
}

Table collectives(double latency, double bandwidth, std::int64_t count, const char* pg) {
  Table t("nccl_summary_implicit_sync", {{"Collective name"},
                                         {"dtype"},
                                         {"In msg nelems"},
                                         {"Process Group Name"},
                                         {"comm_latency_mean"},
                                         {"skew in start time_mean"},
                                         {"algo bw (GB/s)_mean"},
                                         {"bus bw (GB/s)_mean"},
                                         {"count"},
                                         {"Total comm latency (ms)"}});
  t.add_row({"allreduce", "BFloat16", 1024, pg, latency, 3.0, bandwidth / 2, bandwidth, count,
             latency * static_cast<double>(count) / 1e3});
  return t;
}

TEST(CompareRuns, CollectivesByNameTypeSizeAndGroup) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.nccl_summary_implicit_sync = collectives(100, 50, 10, "0");
  b.nccl_summary_implicit_sync = collectives(80, 60, 10, "0");
  const Table t = compare_collectives(a, b, 1).front();
  ASSERT_EQ(t.name(), "nccl_implicit_sync_cmp");
  ASSERT_EQ(t.rows(), 1U);
  EXPECT_DOUBLE_EQ(t.at(0, "diff_comm_latency_mean (us)").number(), -20);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_comm_latency_mean (us)").number(), 20);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_bus bw (GB/s)_mean").number(), 20); // more is better
  EXPECT_DOUBLE_EQ(t.at(0, "ratio_bus bw (GB/s)_mean").number(), 1.2);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_Total comm latency (ms)").number(), 20);
  EXPECT_FALSE(t.column("percent_change_count"));
  EXPECT_EQ(t.at(0, "status").text, "Better");
  b.nccl_summary_implicit_sync = collectives(80, 60, 10, "1"); // another group: no partner
  const Table apart = compare_collectives(a, b, 1).front();
  ASSERT_EQ(apart.rows(), 2U);
  EXPECT_EQ(apart.at(0, "status").text, "only in a");
  EXPECT_EQ(apart.at(1, "status").text, "only in b");
  EXPECT_TRUE(apart.at(1, "diff_comm_latency_mean (us)").is_null());
}

Table long_collectives(std::int64_t ranks) {
  Table t("nccl_summary_long", {{"rank"},
                                {"Process Group Name"},
                                {"Collective name"},
                                {"dtype"},
                                {"In msg nelems"},
                                {"stream"},
                                {"dur_mean"}});
  for (std::int64_t r = 0; r < ranks; ++r)
    t.add_row({r, "0", "allreduce", "BFloat16", 1024, 7, 100.0});
  return t;
}

// A status longer than a string's own buffer: it was read after it was freed.
TEST(CompareRuns, StatusOfCollectivesWithLongLabels) {
  const std::string left = "the baseline with a label of many letters";
  const std::string right = "the test with a label of many letters, too";
  ComparedRun a = run_named(left.c_str());
  ComparedRun b = run_named(right.c_str());
  a.nccl_summary_long = long_collectives(3);
  b.nccl_summary_long = long_collectives(2);
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const std::vector<Table> tables = compare_collectives(*x, *y, 1);
    ASSERT_EQ(tables.size(), 1U);
    ASSERT_EQ(tables[0].name(), "nccl_long_cmp");
    ASSERT_EQ(tables[0].rows(), 3U);
    EXPECT_EQ(tables[0].at(0, "status").text, "Similar");
    EXPECT_EQ(tables[0].at(2, "status").text, "only in " + left);
  }
}

TEST(CompareRuns, DashboardAndFinalSheets) {
  ComparedRun a = run_named("a");
  a.ranks.emplace(0, timeline(100, 1, false));
  a.nccl_summary_implicit_sync = collectives(100, 50, 10, "0");
  ComparedRun b = run_named("b");
  b.ranks.emplace(0, timeline(90, 1, false));
  b.nccl_summary_implicit_sync = collectives(80, 60, 20, "0"); // a longer window
  ComparedRun c = run_named("c");
  c.ranks.emplace(0, timeline(110, 1, false));
  const Table one = summary_dashboard(a, {b}, 1);
  ASSERT_EQ(one.rows(), 5U); // memcpy, total, latency, bandwidth, skew
  EXPECT_EQ(one.at(1, "Metric").text, "GPU_total_time");
  EXPECT_DOUBLE_EQ(one.at(1, "Improvement (%)").number(), 10);
  EXPECT_EQ(one.at(1, "Status").text, "Better");
  EXPECT_EQ(one.at(2, "Metric").text, "NCCL_comm_latency");
  EXPECT_DOUBLE_EQ(one.at(2, "a").number(), 1.0);
  EXPECT_DOUBLE_EQ(one.at(2, "b").number(), 0.8); // with the baseline's count
  EXPECT_DOUBLE_EQ(one.at(3, "Improvement (%)").number(), 20);
  EXPECT_EQ(one.at(4, "Status").text, "Similar");
  const Table two = summary_dashboard(a, {b, c}, 1);
  EXPECT_DOUBLE_EQ(two.at(1, "c Improvement (%)").number(), -10);
  EXPECT_EQ(two.at(1, "c Status").text, "Worse");
  EXPECT_TRUE(two.at(2, "c").is_null());
  const Report report = final_report(a, {b}, 1);
  std::vector<std::pair<std::string, bool>> sheets;
  for (const Table& t : report.tables)
    sheets.emplace_back(t.name(), t.hidden);
  const std::vector<std::pair<std::string, bool>> expected = {
      {"Summary_Dashboard", false}, {"GPU_Summary_Raw", true},   {"GPU_AllRanks_Raw", true},
      {"GPU_Time_Raw", true},       {"GPU_Pct_Raw", true},       {"GPU_ByRank_Cmp", false},
      {"GPU_Summary_Cmp", false},   {"NCCL_ImplSync_Raw", true}, {"NCCL_ImplicitSyncCmp", false}};
  EXPECT_EQ(sheets, expected);
}

// Few collectives: the normal distribution's 1.96 makes their interval far too small.
TEST(CompareRuns, IntervalsOfCollectivesAreWelchsAsThoseOfTimes) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.nccl_summary_implicit_sync = collectives(2, 50, 3, "0");
  b.nccl_summary_implicit_sync = collectives(6, 50, 3, "0");
  const CollectiveKey key{"allreduce", "BFloat16", 1024, "0"};
  a.samples[key] = {{1, 2, 3}, {1, 2, 3}};
  b.samples[key] = {{4, 6, 8}, {4, 6, 8}};
  const Table t = summary_dashboard(a, {b}, 1);
  const Table c = compare_collectives(a, b, 1).front();
  ASSERT_EQ(t.at(0, "Metric").text, "NCCL_comm_latency");
  EXPECT_NEAR(t.at(0, "95% low (%)").number(), c.at(0, "ci95_low_percent").number(), 1e-9);
  EXPECT_NEAR(t.at(0, "95% high (%)").number(), c.at(0, "ci95_high_percent").number(), 1e-9);
  const auto welch = welch95(sample_stats({1, 2, 3}), sample_stats({4, 6, 8}));
  EXPECT_NEAR(t.at(0, "95% high (%)").number(), -200 + welch->half_width / 2 * 100, 1e-9);
}

} // namespace
} // namespace rankscope
