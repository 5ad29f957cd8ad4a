// Tests compare with hand-calculated values: the formulas of both comparisons and the verdicts.
#include "analyses/compare/compare_part.h"
#include "analyses/compare/compare_tables.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;

RankTimeline timeline(std::int64_t total_ms, std::int64_t memcpy_ms, bool idle) {
  const auto share = [&](std::int64_t ms) {
    return KindTime{ms * kMs, 100 * static_cast<double>(ms) / static_cast<double>(total_ms)};
  };
  RankTimeline out;
  out.kinds = {{TimeKind::kTotal, share(total_ms)}, {TimeKind::kTotalMemcpy, share(memcpy_ms)}};
  if (idle)
    out.kinds[TimeKind::kIdle] = share(1);
  return out;
}

ComparedRun run_named(const std::string& label) {
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
  const TimelineComparison c = compare_timelines(a, b, {});
  ASSERT_EQ(c.mean.size(), 3U); // idle_time, total_memcpy_time, total_time
  EXPECT_EQ(c.mean[0].judgement.verdict, Verdict::kOnlyBase);
  EXPECT_FALSE(c.mean[0].ms.improvement());
  EXPECT_EQ(c.mean[1].judgement.verdict, Verdict::kNew);
  EXPECT_FALSE(c.mean[1].ms.improvement());
  EXPECT_FALSE(c.mean[1].ms.ratio());
  EXPECT_DOUBLE_EQ(*c.mean[1].ms.difference(), 5);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.base, 100); // only rank 0 is in both runs
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.test, 90);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.difference(), -10);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.improvement(), 10); // faster is positive
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.ratio(), 0.9);
  EXPECT_EQ(c.mean[2].judgement.verdict, Verdict::kUnknown); // no steps, so the noise is unknown
  EXPECT_FALSE(c.mean[2].judgement.low);
  EXPECT_EQ(c.mean[2].judgement.samples_base, 0U);
  ASSERT_EQ(c.by_rank.size(), 8U); // ranks 0 and 1 with idle_time, rank 2 without
  EXPECT_EQ(c.by_rank[3].judgement.verdict, Verdict::kOnlyBase);
  EXPECT_EQ(c.by_rank[7].rank, 2);
  EXPECT_EQ(c.by_rank[7].judgement.verdict, Verdict::kOnlyTest);
}

TEST(CompareRuns, SheetsHaveTheDocumentedColumns) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.ranks.emplace(0, timeline(100, 0, true));
  b.ranks.emplace(0, timeline(90, 5, false));
  const Comparison c = compare_runs(a, {b}, {});
  const Table t = timeline_by_rank_table(c, 0);
  EXPECT_EQ(t.name(), "Comparison_By_Rank");
  EXPECT_EQ(t.at(0, "rank").i, 0);
  EXPECT_EQ(t.at(0, "type").text, "idle_time");
  EXPECT_EQ(t.at(0, "status").text, "only in a");
  EXPECT_DOUBLE_EQ(t.at(2, "a_time_ms").number(), 100);
  EXPECT_DOUBLE_EQ(t.at(2, "b_time_ms").number(), 90);
  EXPECT_DOUBLE_EQ(t.at(2, "percent_change").number(), 10);
  EXPECT_EQ(t.at(2, "status").text, "Not judged");
  EXPECT_EQ(t.at(2, "a_steps").i, 0);
  EXPECT_TRUE(t.at(1, "ratio").is_null());
}

Measured measured(double base, double test, const std::vector<double>& base_samples,
                  const std::vector<double>& test_samples, Better better = Better::kLower) {
  return {base, test, sample_stats(base_samples), sample_stats(test_samples), better};
}

TEST(CompareRuns, JudgementByIntervalAndThreshold) {
  EXPECT_EQ(judge(measured(0, 0, {}, {}), {}).verdict, Verdict::kSimilar);
  EXPECT_EQ(judge(measured(0, 1, {}, {}), {}).verdict, Verdict::kNew);
  // 5 % more, but the steps vary by more than that
  EXPECT_EQ(judge(measured(30, 31.5, {8, 10, 12}, {8.5, 10.5, 12.5}), {}).verdict,
            Verdict::kSimilar);
  const Judgement clear = judge(measured(30, 31.5, {9.99, 10, 10.01}, {10.49, 10.5, 10.51}), {});
  EXPECT_EQ(clear.verdict, Verdict::kWorse);
  EXPECT_NEAR(*clear.change, -5, 1e-9);
  EXPECT_LT(*clear.high, 0);
  EXPECT_EQ(clear.samples_base, 3U);
  // significant but below the threshold
  EXPECT_EQ(judge(measured(30, 30.15, {9.999, 10, 10.001}, {10.049, 10.05, 10.051}), {}).verdict,
            Verdict::kSimilar);
  EXPECT_EQ(judge(measured(30, 31.5, {9.99, 10, 10.01}, {10.49, 10.5, 10.51}, Better::kHigher), {})
                .verdict,
            Verdict::kBetter);
  // a longer window is not slower: the steps take the same time
  EXPECT_EQ(judge(measured(30, 40, {9.9, 10, 10.1}, {9.9, 10, 10.1, 10}), {}).verdict,
            Verdict::kSimilar);
  // the baseline has time, but 0 in each step: a percentage of 0 is not defined
  EXPECT_EQ(judge(measured(5, 6, {0, 0}, {1, 1}), {}).verdict, Verdict::kUnknown);
}

// By hand: the means of 1 2 3 and 4 6 8 differ by 4, their variances are 1/3 and 4/3, and Welch's
// test has 2.94 degrees of freedom.
TEST(CompareRuns, RowsOfOneTableShareTheErrorRate) {
  const Measured row = measured(2, 6, {1, 2, 3}, {4, 6, 8});
  const double spread = std::sqrt(5.0 / 3);
  const double degrees = (25.0 / 9) / ((1.0 / 9 + 16.0 / 9) / 2);
  const Judgement alone = judge(row, {});
  EXPECT_NEAR(*alone.high, -200 + student_t(degrees, 0.05) * spread / 2 * 100, 1e-6);
  EXPECT_EQ(alone.verdict, Verdict::kSimilar); // interval: 4 ms +- 4.15 ms
  const Measured far = measured(2, 8, {1, 2, 3}, {6, 8, 10});
  EXPECT_EQ(judge(far, {}).verdict, Verdict::kWorse);
  // with three more rows that have two samples or more, alpha is 0.05 / 4; rows that cannot be
  // judged are not counted
  const std::vector<Measured> rows = {
      far, row, row, row, measured(1, 2, {1}, {2}), measured(0, 0, {}, {})};
  const std::vector<Judgement> all = judge_all(rows, {});
  EXPECT_NEAR(*all[0].high, -300 + student_t(degrees, 0.05 / 4) * spread / 2 * 100, 1e-6);
  EXPECT_EQ(all[0].verdict, Verdict::kSimilar);
  EXPECT_EQ(all[4].verdict, Verdict::kUnknown);
}

TEST(CompareRuns, EqualMeansDifferByZeroWithoutASign) {
  for (const Better better : {Better::kLower, Better::kHigher}) {
    Measured row = measured(2, 2, {1, 3}, {1, 3});
    row.better = better;
    EXPECT_FALSE(std::signbit(*judge(row, {}).change));
  }
}

TEST(CompareRuns, OneSampleIsNotJudgedUnlessANoiseIsAssumed) {
  const Measured row = measured(100, 110, {100}, {110});
  const Judgement plain = judge(row, {});
  EXPECT_EQ(plain.verdict, Verdict::kUnknown);
  EXPECT_NEAR(*plain.change, -10, 1e-9);
  EXPECT_FALSE(plain.low);
  // 2 % of 100 and of 110: interval 10 +- 1.96 sqrt(4 + 4.84) = 10 +- 5.827
  const Judgement two = judge(row, {1, 2.0});
  EXPECT_EQ(two.verdict, Verdict::kWorse);
  EXPECT_TRUE(two.assumed);
  EXPECT_NEAR(*two.change, -10, 1e-9);
  EXPECT_NEAR(*two.low, -15.827, 1e-3);
  EXPECT_NEAR(*two.high, -4.173, 1e-3);
  EXPECT_EQ(judge(row, {1, 4.0}).verdict, Verdict::kSimilar);
  // a complete run without steps is one sample
  EXPECT_NEAR(*judge(measured(100, 110, {}, {}), {1, 2.0}).low, -15.827, 1e-3);
  // measured samples take precedence over an assumed noise
  EXPECT_FALSE(judge(measured(10, 11, {9, 10, 11}, {10, 11, 12}), {1, 2.0}).assumed);
}

// Six steps of 10 ms against one step of 10 ms: the change was that of the complete runs, 83 %.
TEST(CompareRuns, RunsOfDifferentLengthsAreComparedByTheirSteps) {
  const auto estimate = [](const Measured& row, const JudgeRule& rule) {
    return judge(row, rule).estimate(improvement_percent(*row.base, *row.test, row.better));
  };
  const Measured one_step = measured(60, 10, {10, 10, 10, 10, 10, 10}, {10});
  EXPECT_EQ(*estimate(one_step, {}), 0);
  EXPECT_EQ(judge(one_step, {}).verdict, Verdict::kUnknown);
  EXPECT_EQ(*estimate(one_step, {1, 2.0}), 0);
  const Measured no_steps = measured(60, 10, {10, 10, 10, 10, 10, 10}, {});
  EXPECT_FALSE(estimate(no_steps, {}));
  EXPECT_FALSE(estimate(no_steps, {1, 2.0}));
  EXPECT_NEAR(*estimate(measured(60, 66, {}, {}), {}), -10, 1e-9);
}

// 1 2 3 4 100: median 3, absolute deviations 2 1 0 1 97 with median 1; the factor for five values
// is 1.206.
TEST(CompareRuns, ScatterOverRanksIsRobustAgainstOneRank) {
  const double deviation = 1.4826 * 1.206;
  EXPECT_NEAR(scatter_of({1, 2, 3, 4, 100}), deviation * deviation, 1e-9);
  EXPECT_EQ(scatter_of({2, 2, 2, 2, 0}), 0);
  EXPECT_EQ(scatter_of({7}), 0);
}

TEST(CompareRuns, MeanOverRanksUsesStepsThatAllRanksHave) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  for (ComparedRun* run : {&a, &b})
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      RankTimeline t = timeline(30, 0, false);
      for (std::int64_t step = 0; step < 3; ++step)
        t.step_ns[TimeKind::kTotal][step] = 10 * kMs;
      run->ranks.emplace(rank, std::move(t));
    }
  b.ranks.at(1).step_ns[TimeKind::kTotal].erase(1);
  const TimelineComparison c = compare_timelines(a, b, {});
  EXPECT_EQ(c.mean[1].judgement.samples_base, 3U);
  EXPECT_EQ(c.mean[1].judgement.samples_test, 2U);
}

// Equal steps of 1 ms, half of it idle. Two steps lack the idle time between them.
TEST(CompareRuns, IdleTimeBetweenStepsIsNotComparedWithItsAbsence) {
  const auto run_of = [](const std::string& label, std::int64_t steps) {
    ComparedRun run = run_named(label);
    RankTimeline t = timeline(steps, 0, true);
    for (std::int64_t step = 0; step < steps; ++step) {
      t.step_ns[TimeKind::kComputation][step] = kMs / 2;
      if (steps < 3 || step > 0) // of three or more steps, the first one is unknown
        t.step_ns[TimeKind::kTotal][step] = steps < 3 ? kMs / 2 : kMs;
    }
    run.ranks.emplace(0, std::move(t));
    return run;
  };
  const ComparedRun two = run_of("two", 2);
  const ComparedRun six = run_of("six", 6);
  EXPECT_TRUE(same_idle_time(two, two));
  EXPECT_FALSE(same_idle_time(two, six));
  EXPECT_TRUE(same_idle_time(run_named("no steps"), six));
  for (const auto& [base, test] : {std::pair(&two, &six), std::pair(&six, &two)}) {
    const Comparison c = compare_runs(*base, {*test}, {1, 1.0});
    for (const TimelineChange& row : c.timelines[0].mean) {
      if (row.kind != TimeKind::kTotal)
        continue;
      EXPECT_EQ(row.judgement.verdict, Verdict::kUnknown);
      EXPECT_FALSE(row.judgement.change);
    }
    EXPECT_EQ(c.changes[0].rows, 0U);
  }
}

TEST(CompareRuns, SummaryOfARunAndGeometricMeansWithoutZeros) {
  ComparedRun a = run_named("a");
  a.ranks.emplace(0, timeline(100, 0, false));
  a.ranks.emplace(3, timeline(400, 4, false));
  const std::vector<Table> mean = timeline_summary_tables({&a}, false, false);
  ASSERT_EQ(mean.size(), 4U);
  EXPECT_EQ(mean[0].name(), "Summary");
  EXPECT_DOUBLE_EQ(mean[0].at(1, "time ms").number(), 250);
  EXPECT_EQ(mean[0].at(1, "num_ranks").i, 2);
  EXPECT_EQ(mean[0].at(1, "slowest_rank").i, 3);
  EXPECT_EQ(mean[1].name(), "All_Ranks_Combined");
  EXPECT_EQ(mean[1].rows(), 4U);
  EXPECT_EQ(mean[2].name(), "Per_Rank_Time_ms");
  EXPECT_DOUBLE_EQ(mean[2].at(1, "3").number(), 400);
  const std::vector<TimelineSummaryRow> geo = timeline_summary(a, true);
  EXPECT_NEAR(geo[1].mean_ms, 200, 1e-9);
  EXPECT_NEAR(geo[0].mean_ms, 4, 1e-9); // the rank with 0 is left out
}

TEST(CompareRuns, CombinedSheetsHoldAllRunsAndTheirRanks) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.ranks.emplace(5, timeline(100, 0, false));
  b.ranks.emplace(2, timeline(90, 0, false));
  const std::vector<Table> tables = timeline_summary_tables({&a, &b}, false, true);
  const Table& times = tables[2];
  ASSERT_EQ(times.cols(), 4U); // type, 5, 2, source
  EXPECT_EQ(times.columns()[1].name, "5");
  EXPECT_EQ(times.columns()[3].name, "source");
  ASSERT_EQ(times.rows(), 4U);
  EXPECT_EQ(times.at(3, "source").text, "b");
  EXPECT_TRUE(times.at(3, "5").is_null());
  EXPECT_DOUBLE_EQ(times.at(3, "2").number(), 90);
  EXPECT_TRUE(collective_summary_tables({&a, &b}).empty());
}

SyncSummary collectives(double latency_us, double bandwidth, std::size_t count, const char* group) {
  SyncSummary s;
  s.name = "allreduce";
  s.dtype = "BFloat16";
  s.in_nelems = 1024;
  s.group = group;
  s.latency_us.mean = latency_us;
  s.start_skew_us.mean = 3;
  s.algo_gbps.mean = bandwidth / 2;
  s.bus_gbps.mean = bandwidth;
  s.count = count;
  s.total_latency_ms = latency_us * static_cast<double>(count) / 1e3;
  return s;
}

TEST(CompareRuns, CollectivesByNameTypeSizeAndGroup) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.collectives.summary = {collectives(100, 50, 10, "0")};
  b.collectives.summary = {collectives(80, 60, 10, "0")};
  const Table t = collectives_cmp_table(compare_runs(a, {b}, {}), 0);
  ASSERT_EQ(t.name(), "nccl_implicit_sync_cmp");
  ASSERT_EQ(t.rows(), 1U);
  EXPECT_DOUBLE_EQ(t.at(0, "diff_comm_latency_mean (us)").number(), -20);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_comm_latency_mean").number(), 20);
  EXPECT_TRUE(t.column("diff_comm_latency_mean (us)"));
  for (const Column& column : t.columns()) {
    if (column.name.rfind("percent_change_", 0) == 0 || column.name.rfind("ratio_", 0) == 0) {
      EXPECT_EQ(column.name.find("(us)"), std::string::npos) << column.name;
    }
  }
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_bus bw (GB/s)_mean").number(), 20); // more is better
  EXPECT_DOUBLE_EQ(t.at(0, "ratio_bus bw (GB/s)_mean").number(), 1.2);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_Total comm latency (ms)").number(), 20);
  EXPECT_FALSE(t.column("percent_change_count"));
  EXPECT_EQ(t.at(0, "status").text, "Not judged"); // not judged without samples
  // another group: no row of the other run matches
  b.collectives.summary = {collectives(80, 60, 10, "1")};
  const std::vector<CollectiveChange> apart = compare_collectives(a, b, {}).all_ranks;
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[0].judgement.verdict, Verdict::kOnlyBase);
  EXPECT_EQ(apart[1].judgement.verdict, Verdict::kOnlyTest);
  EXPECT_FALSE(apart[1].latency_us.difference());
}

std::vector<RankSummary> long_collectives(std::int64_t ranks) {
  std::vector<RankSummary> out(static_cast<std::size_t>(ranks));
  for (std::int64_t r = 0; r < ranks; ++r) {
    RankSummary& s = out[static_cast<std::size_t>(r)];
    s.rank = r;
    s.group = "0";
    s.name = "allreduce";
    s.dtype = "BFloat16";
    s.in_nelems = 1024;
    s.stream = 7;
    s.dur_us.mean = 100;
  }
  return out;
}

// Regression test: a status text that was too long for the internal buffer of std::string was read
// after it was freed.
TEST(CompareRuns, StatusOfCollectivesWithLongLabels) {
  const std::string left = "the baseline with a label of many letters";
  const std::string right = "the test with a label of many letters, too";
  ComparedRun a = run_named(left);
  ComparedRun b = run_named(right);
  a.collectives.rank_summary = long_collectives(3);
  b.collectives.rank_summary = long_collectives(2);
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Comparison c = compare_runs(*x, {*y}, {});
    EXPECT_EQ(collectives_cmp_table(c, 0).rows(), 0U);
    const Table t = rank_collectives_cmp_table(c, 0);
    ASSERT_EQ(t.name(), "nccl_long_cmp");
    ASSERT_EQ(t.rows(), 3U);
    EXPECT_EQ(t.at(0, "status").text, "Not judged");
    EXPECT_EQ(t.at(2, "status").text, "only in " + left);
  }
}

TEST(CompareRuns, DashboardAndFinalSheets) {
  const JudgeRule rule{1, 1.0}; // one sample per run: the noise is assumed
  ComparedRun a = run_named("a");
  a.ranks.emplace(0, timeline(100, 1, false));
  a.collectives.summary = {collectives(100, 50, 10, "0")};
  ComparedRun b = run_named("b");
  b.ranks.emplace(0, timeline(90, 1, false));
  b.collectives.summary = {collectives(80, 60, 20, "0")};
  ComparedRun c = run_named("c");
  c.ranks.emplace(0, timeline(110, 1, false));
  const Table single = dashboard_table(compare_runs(a, {b}, rule));
  ASSERT_EQ(single.rows(), 5U); // memcpy, total, latency, bandwidth, skew
  EXPECT_EQ(single.at(1, "Metric").text, "GPU_total_time");
  EXPECT_DOUBLE_EQ(single.at(1, "Improvement (%)").number(), 10);
  EXPECT_EQ(single.at(1, "Status").text, "Better");
  EXPECT_EQ(single.at(2, "Metric").text, "NCCL_comm_latency");
  EXPECT_DOUBLE_EQ(single.at(2, "a").number(), 1.0);
  EXPECT_DOUBLE_EQ(single.at(2, "b").number(), 0.8); // weighted with the counts of the baseline
  EXPECT_DOUBLE_EQ(single.at(3, "Improvement (%)").number(), 20);
  EXPECT_EQ(single.at(4, "Status").text, "Similar");
  const Table two = dashboard_table(compare_runs(a, {b, c}, rule));
  EXPECT_DOUBLE_EQ(two.at(1, "c Improvement (%)").number(), -10);
  EXPECT_EQ(two.at(1, "c Status").text, "Worse");
  EXPECT_TRUE(two.at(2, "c").is_null());
  const Report report = final_report(compare_runs(a, {b}, rule));
  std::vector<std::pair<std::string, bool>> sheets;
  for (const Table& t : report.tables)
    sheets.emplace_back(t.name(), t.hidden);
  const std::vector<std::pair<std::string, bool>> expected = {
      {"Summary_Dashboard", false}, {"GPU_Summary_Raw", true},   {"GPU_AllRanks_Raw", true},
      {"GPU_Time_Raw", true},       {"GPU_Pct_Raw", true},       {"GPU_ByRank_Cmp", false},
      {"GPU_Summary_Cmp", false},   {"NCCL_ImplSync_Raw", true}, {"NCCL_ImplicitSyncCmp", false}};
  EXPECT_EQ(sheets, expected);
}

// Regression test: nccl_long_cmp reported Better and Worse by the threshold alone.
TEST(CompareRuns, DurationsOnARankAreJudgedByTheirKernels) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  const auto fill = [](ComparedRun& run, std::int64_t ranks, double more) {
    run.collectives.rank_summary = long_collectives(ranks);
    for (RankSummary& s : run.collectives.rank_summary) {
      s.count = 4;
      s.dur_us.mean = 100 + more;
      s.dur_us.sum = 4 * s.dur_us.mean;
      run.collectives.rank_dur_us[{s.rank, {s.name, s.dtype, s.in_nelems, s.group}, s.stream}] = {
          90 + more, 110 + more, 95 + more, 105 + more};
    }
  };
  fill(a, 3, 0);
  fill(b, 3, 5); // 5 % slower, with noise of 9 %
  const auto rows = compare_collectives(a, b, {}).by_rank;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].judgement.verdict, Verdict::kSimilar);
  EXPECT_NEAR(*rows[0].judgement.change, -5, 1e-9);
  EXPECT_EQ(rows[0].judgement.samples_base, 4U);
  fill(b, 3, 80);
  for (const RankCollectiveChange& row : compare_collectives(a, b, {}).by_rank)
    EXPECT_EQ(row.judgement.verdict, Verdict::kWorse);
  const Table t = rank_collectives_cmp_table(compare_runs(a, {b}, {}), 0);
  for (const Column& column : t.columns()) { // the names of percentages have no unit of time
    if (column.name.rfind("percent_change_", 0) == 0) {
      EXPECT_EQ(column.name.find("(us)"), std::string::npos) << column.name;
    }
  }
  EXPECT_EQ(t.at(0, "a_samples").i, 4);
  EXPECT_LT(t.at(0, "ci95_high_percent").number(), 0);
  // the number of samples differs from the count of the row: the samples are not used
  b.collectives.rank_dur_us.begin()->second = {1, 2, 3};
  EXPECT_EQ(compare_collectives(a, b, {}).by_rank[0].judgement.verdict, Verdict::kUnknown);
}

// Regression test: of several rows that differ in their splits, only the first was used.
TEST(CompareRuns, DurationsOfAllSplitsAreOneRow) {
  ComparedRun a = run_named("a");
  a.collectives.rank_summary = long_collectives(1);
  RankSummary second = a.collectives.rank_summary[0];
  for (RankSummary* s : {&a.collectives.rank_summary[0], &second}) {
    s->count = 2;
    s->dur_us.sum = 200;
  }
  second.out_split = "[1, 2]";
  second.dur_us.sum = 400;
  second.dur_us.mean = 200;
  a.collectives.rank_summary.push_back(second);
  const auto rows = compare_collectives(a, a, {}).by_rank;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(*rows[0].mean_us.base, 150);
  EXPECT_DOUBLE_EQ(*rows[0].sum_us.base, 600);
  EXPECT_DOUBLE_EQ(*rows[0].count.base, 4);
}

// Regression test: the interval of the bandwidth was that of the latency.
TEST(CompareRuns, BandwidthIsJudgedByItsOwnSamples) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.collectives.summary = {collectives(2, 50, 3, "0")};
  b.collectives.summary = {collectives(2, 80, 3, "0")};
  const CollectiveKey key{"allreduce", "BFloat16", 1024, "0"};
  a.collectives.samples[key] = {{1, 2, 3}, {1, 2, 3}, {49, 50, 51}};
  b.collectives.samples[key] = {{1, 2, 3}, {1, 2, 3}, {79, 80, 81}};
  const Comparison c = compare_runs(a, {b}, {});
  const DashboardRow& row = c.dashboard.rows[1];
  ASSERT_EQ(row.metric, "NCCL_bus_bandwidth");
  EXPECT_EQ(row.tests[0]->judgement.verdict, Verdict::kBetter);
  EXPECT_NEAR(*row.tests[0]->judgement.change, *row.tests[0]->improvement, 1e-9);
  EXPECT_EQ(c.collectives[0].all_ranks[0].judgement.verdict, Verdict::kSimilar);
  EXPECT_EQ(c.collectives[0].all_ranks[0].bandwidth.verdict, Verdict::kBetter);
}

// Regression test: one collective with unknown bandwidth made the interval NaN, so the verdict on a
// much lower bandwidth was "Similar".
TEST(CompareRuns, WhatIsUnknownOfOneCollectiveIsNoSample) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.collectives.summary = {collectives(2, 50, 4, "0")};
  b.collectives.summary = {collectives(2, 30, 3, "0")};
  const CollectiveKey key{"allreduce", "BFloat16", 1024, "0"};
  CollectiveSamples& samples = a.collectives.samples[key];
  for (const double bus : {49.0, 50.0, std::nan(""), 51.0}) {
    const auto step = static_cast<std::int64_t>(samples.latency_us.size());
    samples.latency_us.add(step, 2);
    samples.bus_gbps.add(step, bus);
  }
  b.collectives.samples[key] = {{2, 2, 2}, {}, {29, 30, 31}};
  const Comparison c = compare_runs(a, {b}, {});
  const Judgement& j = c.dashboard.rows[1].tests[0]->judgement;
  EXPECT_EQ(j.verdict, Verdict::kWorse);
  EXPECT_EQ(j.samples_base, 3U);
  EXPECT_NEAR(*j.change, -40, 1e-9);
  EXPECT_EQ(c.collectives[0].all_ranks[0].bandwidth.verdict, Verdict::kWorse);
  // ST no. 2: all collectives of one step are one sample
  samples.bus_gbps = {};
  for (const double bus : {49.0, 50.0, 51.0, 50.0})
    samples.bus_gbps.add(3, bus);
  const Judgement judgement = compare_runs(a, {b}, {}).dashboard.rows[1].tests[0]->judgement;
  EXPECT_EQ(judgement.verdict, Verdict::kUnknown);
  EXPECT_EQ(judgement.samples_base, 1U);
}

// If another rank starts late, one group waits more and another group waits less: that is not a
// change of the skew. A change that all groups have in common is a change of the skew.
TEST(CompareRuns, SkewsThatScatterOverGroupsAreNoise) {
  const auto run_with = [](double first, double second) {
    ComparedRun run = run_named("run");
    for (const auto& [group, skew] : {std::pair{"0", first}, std::pair{"1", second}}) {
      run.collectives.summary.push_back(collectives(2, 50, 3, group));
      run.collectives.summary.back().start_skew_us.mean = skew;
      run.collectives.samples[{"allreduce", "BFloat16", 1024, group}] = {
          {2, 2, 2}, {skew - 1, skew, skew + 1}, {50, 50, 50}};
    }
    return run;
  };
  const auto skew_of = [&](const ComparedRun& test) {
    return compare_runs(run_with(100, 100), {test}, {}).dashboard.rows[2].tests[0]->judgement;
  };
  const Judgement other_rank = skew_of(run_with(300, 50));
  EXPECT_NEAR(*other_rank.change, -75, 1e-9);
  EXPECT_EQ(other_rank.verdict, Verdict::kSimilar);
  EXPECT_EQ(skew_of(run_with(175, 175)).verdict, Verdict::kWorse);
  EXPECT_EQ(skew_of(run_with(176, 174)).verdict, Verdict::kWorse);
}

// The baseline value of a test run is calculated from the collectives that both runs have, so it
// can be different for each test run.
TEST(CompareRuns, EachTestHasItsBaseline) {
  ComparedRun a = run_named("a");
  a.collectives.summary = {collectives(100, 50, 10, "0"), collectives(2, 1, 10, "1")};
  ComparedRun b = a, c = a;
  b.label = "b";
  c.label = "c";
  c.collectives.summary.erase(c.collectives.summary.begin());
  const Comparison compared = compare_runs(a, {b, c}, {});
  const DashboardRow& row = compared.dashboard.rows[0];
  ASSERT_EQ(row.metric, "NCCL_comm_latency");
  EXPECT_FALSE(row.base);
  EXPECT_NEAR(*row.tests[0]->base, 1.02, 1e-12);
  EXPECT_NEAR(*row.tests[1]->base, 0.02, 1e-12);
  const Table table = dashboard_table(compared);
  EXPECT_TRUE(table.at(0, "a").is_null());
  bool noted = false;
  for (const std::string& note : table.notes)
    noted = noted || note == "NCCL_comm_latency of a, from the ranks and collectives that both "
                             "runs have: 1.020 ms compared with b, "
                             "0.020 ms compared with c";
  EXPECT_TRUE(noted);
  EXPECT_NEAR(*compare_runs(a, {b, b}, {}).dashboard.rows[0].base, 1.02, 1e-12);
}

// Regression test for U14: one axis had values in ms, GB/s and us.
TEST(CompareRuns, AChartHasOneUnit) {
  ComparedRun a = run_named("a");
  a.collectives.summary = {collectives(100, 50, 10, "0")};
  ComparedRun b = a;
  b.label = "b";
  const Comparison compared = compare_runs(a, {b}, {});
  const Table table = dashboard_table(compared);
  std::set<std::string> units;
  for (const Chart& chart : table.charts) {
    if (chart.title != "Collectives")
      continue;
    ASSERT_LT(chart.first_row, chart.last_row);
    for (std::size_t r = chart.first_row; r < chart.last_row; ++r)
      EXPECT_EQ(compared.dashboard.rows[r].unit, chart.value_title);
    units.insert(chart.value_title);
  }
  EXPECT_EQ(units, (std::set<std::string>{"GB/s", "ms", "us"}));
}

TEST(CompareRuns, DifferentWorkloadsAreFound) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.operators = {{"aten::mm", 60}, {"aten::add", 40}};
  b.operators = {{"aten::mm", 100}, {"aten::add", 20}};
  EXPECT_FALSE(compare_runs(a, {b}, {}).comparability[0].operators->differs());
  b.operators = {{"aten::add", 20}, {"aten::conv2d", 80}};
  const Comparison c = compare_runs(a, {b}, {});
  const std::optional<WorkloadOverlap>& overlap = c.comparability[0].operators;
  ASSERT_TRUE(overlap);
  EXPECT_TRUE(overlap->differs());
  EXPECT_EQ(overlap->common, 1U);
  EXPECT_EQ(overlap->all, 3U);
  EXPECT_NEAR(overlap->base_percent, 40, 1e-9);
  EXPECT_NEAR(overlap->test_percent, 20, 1e-9);
}

// ST-C22: a run with twice the rows in each matrix product does different work; it is not a slower
// run.
TEST(CompareRuns, OtherShapesAreDifferentWork) {
  const auto run_with = [](const std::string& label, const std::string& shapes, double launches) {
    ComparedRun run = run_named(label);
    run.work.ranks = 1;
    run.work.steps = {1, 2};
    run.work.total_ns = {100, 100};
    Work mm;
    mm.self_ns = {60, 60};
    mm.launches = launches;
    run.work.work[{StepWorkKind::kKernel, "aten::mm", shapes, "k"}] = mm;
    Work add;
    add.self_ns = {40, 40};
    add.launches = 3;
    run.work.work[{StepWorkKind::kKernel, "aten::add", "8", "k"}] = add;
    return run;
  };
  const ComparedRun a = run_with("a", "64x64 64x64", 4);
  const auto differs = [&](const std::string& shapes, double launches) {
    return compare_runs(a, {run_with("b", shapes, launches)}, {}).comparability[0].work.differs();
  };
  EXPECT_FALSE(differs("64x64 64x64", 4));
  const Comparison c = compare_runs(a, {run_with("b", "128x64 64x64", 4)}, {});
  const WorkDifference& work = c.comparability[0].work;
  EXPECT_TRUE(work.differs());
  EXPECT_NEAR(work.base_percent, 60, 1e-9);
  EXPECT_NEAR(work.test_percent, 60, 1e-9);
  EXPECT_EQ(work.op, "aten::mm");
  EXPECT_EQ(work.base_work, "64x64 64x64, 4 launches");
  EXPECT_EQ(work.test_work, "128x64 64x64, 4 launches");
  EXPECT_TRUE(differs("64x64 64x64", 5));
}

// ST-C22: times of different work were Worse.
TEST(CompareRuns, TimesOfDifferentWorkAreNotJudged) {
  const Measured twice{10, 20, {8, 10, 0.01}, {8, 20, 0.01}, Better::kLower, 0};
  EXPECT_EQ(judge(twice, {}).verdict, Verdict::kWorse);
  JudgeRule rule;
  rule.same_work = false;
  const Judgement found = judge(twice, rule);
  EXPECT_EQ(found.verdict, Verdict::kUnknown);
  EXPECT_NEAR(*found.change, -100, 1e-9);
  EXPECT_LT(*found.high, 0);
}

// ST-U8: a change was called worse with a negative interval. ST-U7: the interval and the displayed
// change belong to the same estimate.
TEST(CompareRuns, SignsAgreeWithWords) {
  Judgement worse;
  worse.change = -2.88;
  worse.low = -2.99;
  worse.high = -2.78;
  EXPECT_EQ(change_text(worse), "2.88 % worse (95 % CI 2.78 to 2.99 %)");
  Judgement better;
  better.change = 2;
  better.low = 1;
  better.high = 3;
  EXPECT_EQ(change_text(better), "2.00 % better (95 % CI 1.00 to 3.00 %)");
  DashboardCell cell;
  cell.improvement = -11.5;
  EXPECT_EQ(cell.estimate(), -11.5);
  cell.judgement.change = -13.2;
  EXPECT_EQ(cell.estimate(), -13.2);
}

// ST no. 6: correlated successive steps are not independent samples.
TEST(CompareRuns, DependentStepsWidenTheInterval) {
  const auto run_with = [](const std::vector<std::int64_t>& ms) {
    ComparedRun run = run_named("run");
    run.ranks.clear();
    for (std::size_t s = 0; s < ms.size(); ++s)
      run.ranks[0].step_ns[TimeKind::kTotal][static_cast<std::int64_t>(s)] = ms[s] * 1'000'001;
    run.ranks[0].kinds[TimeKind::kTotal] = {88'000'088, 100};
    return run;
  };
  const ComparedRun rough = run_with({10, 12, 10, 12, 10, 12, 10, 12});
  EXPECT_EQ(rule_of_runs(rough, rough, {}).step_correlation, 0);
  const ComparedRun slow = run_with({10, 10, 10, 10, 12, 12, 12, 12});
  const JudgeRule rule = rule_of_runs(slow, slow, {});
  // correlation (3 - 1 + 3) / 8 = 0.625, plus (1 + 3 * 0.625) / 8 for the bias: 0.984, limited to
  // 0.95
  EXPECT_DOUBLE_EQ(rule.step_correlation, 0.95);
  EXPECT_EQ(rule.clock_ns, 1);
  const Comparison c = compare_runs(slow, {slow}, {});
  EXPECT_DOUBLE_EQ(c.rules[0].step_correlation, 0.95);
  const auto width = [](const Comparison& comparison) {
    const Judgement& j = comparison.timelines[0].mean[0].judgement;
    return *j.high - *j.low;
  };
  // 8 correlated steps count as 2, with 7 * 2 / 8 degrees of freedom per run; 8 independent steps
  // count as 8, with 7
  EXPECT_NEAR(width(c) / width(compare_runs(rough, {rough}, {})),
              std::sqrt(8.0 / 2) * student_t(3.5, 0.05) / student_t(14, 0.05), 1e-9);
}

TEST(CompareRuns, SkewsOfUnlikeClocksAreNotCompared) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.collectives.summary = b.collectives.summary = {collectives(2, 50, 3, "0")};
  a.collectives.clocks = ClockState::kAligned;
  b.collectives.clocks = ClockState::kRaw;
  const Comparison c = compare_runs(a, {b}, {});
  ASSERT_EQ(c.dashboard.rows.size(), 2U);
  EXPECT_EQ(c.dashboard.rows[1].metric, "NCCL_bus_bandwidth");
  b.collectives.clocks = ClockState::kAligned;
  EXPECT_EQ(compare_runs(a, {b}, {}).dashboard.rows.size(), 3U);
}

// The intervals of collectives use Welch's t: with few samples, 1.96 standard errors are far too
// small.
TEST(CompareRuns, IntervalsOfCollectivesAreWelchsAsThoseOfTimes) {
  ComparedRun a = run_named("a");
  ComparedRun b = run_named("b");
  a.collectives.summary = {collectives(2, 50, 3, "0")};
  b.collectives.summary = {collectives(6, 50, 3, "0")};
  const CollectiveKey key{"allreduce", "BFloat16", 1024, "0"};
  a.collectives.samples[key] = {{1, 2, 3}, {1, 2, 3}, {}};
  b.collectives.samples[key] = {{4, 6, 8}, {4, 6, 8}, {}};
  const Comparison c = compare_runs(a, {b}, {});
  const DashboardRow& row = c.dashboard.rows.front();
  ASSERT_EQ(row.metric, "NCCL_comm_latency");
  const Judgement& cell = row.tests[0]->judgement;
  ASSERT_TRUE(cell.low);
  const SampleStats base = sample_stats({1, 2, 3});
  const SampleStats test = sample_stats({4, 6, 8});
  const Judgement& single = c.collectives[0].all_ranks[0].judgement; // its table's only row
  EXPECT_NEAR(*single.high, -200 + welch95(base, test)->half_width / 2 * 100, 1e-9);
  // one of three metrics of collectives
  EXPECT_NEAR(*cell.high, -200 + welch(base, test, 0.05 / 3)->half_width / 2 * 100, 1e-9);
  EXPECT_NEAR(*cell.change, -200, 1e-9);
  EXPECT_EQ(cell.samples_base, 3U);
}

TEST(CompareRuns, APartComesBackWhole) {
  ComparePart part;
  part.rank = 5;
  part.timeline = timeline(100, 3, true);
  part.timeline.step_ns[TimeKind::kTotal] = {{7, 40 * kMs}, {8, -1}};
  part.timeline.step_ns[TimeKind::kBusy] = {{7, 0}}; // a kind that has only step times
  part.collectives.rank = 5;
  Collective& c = part.collectives.rows.emplace_back();
  c.name = part.collectives.texts.intern("allreduce");
  c.kind = CollectiveKind::kAllReduce;
  c.ts_ns = -4;
  const std::string bytes = encode_part("compare", kComparePartVersion, part);
  const auto back = decode_part<ComparePart>("compare", kComparePartVersion, bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(encode_part("compare", kComparePartVersion, *back), bytes);
  EXPECT_EQ(back->rank, 5);
  ASSERT_EQ(back->timeline.kinds.size(), 3U);
  EXPECT_EQ(back->timeline.kinds.at(TimeKind::kTotal).time_ns, 100 * kMs);
  EXPECT_DOUBLE_EQ(back->timeline.kinds.at(TimeKind::kTotalMemcpy).percent, 3);
  EXPECT_EQ(back->timeline.step_ns, part.timeline.step_ns);
  EXPECT_EQ(back->collectives.text(back->collectives.rows.at(0).name), "allreduce");
  // kind that does not exist
  std::vector<KindRecord> records(1);
  records[0].kind = static_cast<TimeKind>(kTimeKinds);
  EXPECT_FALSE(decode_part<KindRecord>("k", 1, encode_part("k", 1, records[0])));
}

} // namespace
} // namespace rankscope
