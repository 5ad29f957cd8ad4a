// compare: the formulas of both comparisons and the judgement by hand-worked cases.
#include "analyses/compare/compare_part.h"
#include "analyses/compare/compare_tables.h"

#include <gtest/gtest.h>

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
  const TimelineComparison c = compare_timelines(a, b, 1);
  ASSERT_EQ(c.mean.size(), 3U); // idle_time, total_memcpy_time, total_time
  EXPECT_EQ(c.mean[0].judgement.verdict, Verdict::kOnlyBase);
  EXPECT_FALSE(c.mean[0].ms.improvement());
  EXPECT_EQ(c.mean[1].judgement.verdict, Verdict::kNew);
  EXPECT_FALSE(c.mean[1].ms.improvement());
  EXPECT_FALSE(c.mean[1].ms.ratio());
  EXPECT_DOUBLE_EQ(*c.mean[1].ms.difference(), 2.5);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.base, 150);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.test, 120);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.difference(), -30);
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.improvement(), 20); // faster is positive
  EXPECT_DOUBLE_EQ(*c.mean[2].ms.ratio(), 0.8);
  EXPECT_EQ(c.mean[2].judgement.verdict, Verdict::kBetter);
  EXPECT_FALSE(c.mean[2].judgement.low); // no steps, no noise
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
  const Comparison c = compare_runs(a, {b}, 1);
  const Table t = timeline_by_rank_table(c, 0);
  EXPECT_EQ(t.name(), "Comparison_By_Rank");
  EXPECT_EQ(t.at(0, "rank").i, 0);
  EXPECT_EQ(t.at(0, "type").text, "idle_time");
  EXPECT_EQ(t.at(0, "status").text, "only in a");
  EXPECT_DOUBLE_EQ(t.at(2, "a_time_ms").number(), 100);
  EXPECT_DOUBLE_EQ(t.at(2, "b_time_ms").number(), 90);
  EXPECT_DOUBLE_EQ(t.at(2, "percent_change").number(), 10);
  EXPECT_EQ(t.at(2, "status").text, "Better");
  EXPECT_EQ(t.at(2, "a_steps").i, 0);
  EXPECT_TRUE(t.at(1, "ratio").is_null());
}

TEST(CompareRuns, JudgementByThresholdAndNoise) {
  const auto verdict = [](double base, double test) {
    return judge(base, test, {}, {}, 1).verdict;
  };
  EXPECT_EQ(verdict(100, 101.5), Verdict::kWorse);
  EXPECT_EQ(verdict(100, 99.5), Verdict::kSimilar);
  EXPECT_EQ(verdict(100, 98.5), Verdict::kBetter);
  EXPECT_EQ(verdict(0, 0), Verdict::kSimilar);
  EXPECT_EQ(verdict(0, 1), Verdict::kNew);
  EXPECT_EQ(judge(100.0, 110.0, {}, {}, 1, Better::kHigher).verdict, Verdict::kBetter);
  // 5 % more, but the steps scatter by more than that
  EXPECT_EQ(judge(30.0, 31.5, {8, 10, 12}, {8.5, 10.5, 12.5}, 1).verdict, Verdict::kSimilar);
  const Judgement clear = judge(30.0, 31.5, {9.99, 10, 10.01}, {10.49, 10.5, 10.51}, 1);
  EXPECT_EQ(clear.verdict, Verdict::kWorse);
  EXPECT_NEAR(*clear.step_change, -5, 1e-9);
  EXPECT_LT(*clear.high, 0);
  EXPECT_EQ(clear.samples_base, 3U);
  // significant but below the threshold
  EXPECT_EQ(judge(30.0, 30.15, {9.999, 10, 10.001}, {10.049, 10.05, 10.051}, 1).verdict,
            Verdict::kSimilar);
  // a longer window is not slower: the steps take the same time
  EXPECT_EQ(judge(30.0, 40.0, {9.9, 10, 10.1}, {9.9, 10, 10.1, 10}, 1).verdict, Verdict::kSimilar);
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
  const TimelineComparison c = compare_timelines(a, b, 1);
  EXPECT_EQ(c.mean[1].judgement.samples_base, 3U);
  EXPECT_EQ(c.mean[1].judgement.samples_test, 2U);
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
  EXPECT_NEAR(geo[0].mean_ms, 4, 1e-9); // the zero is left out
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
  const Table t = collectives_cmp_table(compare_runs(a, {b}, 1), 0);
  ASSERT_EQ(t.name(), "nccl_implicit_sync_cmp");
  ASSERT_EQ(t.rows(), 1U);
  EXPECT_DOUBLE_EQ(t.at(0, "diff_comm_latency_mean (us)").number(), -20);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_comm_latency_mean (us)").number(), 20);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_bus bw (GB/s)_mean").number(), 20); // more is better
  EXPECT_DOUBLE_EQ(t.at(0, "ratio_bus bw (GB/s)_mean").number(), 1.2);
  EXPECT_DOUBLE_EQ(t.at(0, "percent_change_Total comm latency (ms)").number(), 20);
  EXPECT_FALSE(t.column("percent_change_count"));
  EXPECT_EQ(t.at(0, "status").text, "Better");
  b.collectives.summary = {collectives(80, 60, 10, "1")}; // another group: no partner
  const std::vector<CollectiveChange> apart = compare_collectives(a, b, 1).all_ranks;
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

// A status longer than a string's own buffer: it was read after it was freed.
TEST(CompareRuns, StatusOfCollectivesWithLongLabels) {
  const std::string left = "the baseline with a label of many letters";
  const std::string right = "the test with a label of many letters, too";
  ComparedRun a = run_named(left);
  ComparedRun b = run_named(right);
  a.collectives.rank_summary = long_collectives(3);
  b.collectives.rank_summary = long_collectives(2);
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Comparison c = compare_runs(*x, {*y}, 1);
    EXPECT_EQ(collectives_cmp_table(c, 0).rows(), 0U);
    const Table t = rank_collectives_cmp_table(c, 0);
    ASSERT_EQ(t.name(), "nccl_long_cmp");
    ASSERT_EQ(t.rows(), 3U);
    EXPECT_EQ(t.at(0, "status").text, "Similar");
    EXPECT_EQ(t.at(2, "status").text, "only in " + left);
  }
}

TEST(CompareRuns, DashboardAndFinalSheets) {
  ComparedRun a = run_named("a");
  a.ranks.emplace(0, timeline(100, 1, false));
  a.collectives.summary = {collectives(100, 50, 10, "0")};
  ComparedRun b = run_named("b");
  b.ranks.emplace(0, timeline(90, 1, false));
  b.collectives.summary = {collectives(80, 60, 20, "0")};
  ComparedRun c = run_named("c");
  c.ranks.emplace(0, timeline(110, 1, false));
  const Table one = dashboard_table(compare_runs(a, {b}, 1));
  ASSERT_EQ(one.rows(), 5U); // memcpy, total, latency, bandwidth, skew
  EXPECT_EQ(one.at(1, "Metric").text, "GPU_total_time");
  EXPECT_DOUBLE_EQ(one.at(1, "Improvement (%)").number(), 10);
  EXPECT_EQ(one.at(1, "Status").text, "Better");
  EXPECT_EQ(one.at(2, "Metric").text, "NCCL_comm_latency");
  EXPECT_DOUBLE_EQ(one.at(2, "a").number(), 1.0);
  EXPECT_DOUBLE_EQ(one.at(2, "b").number(), 0.8); // with the baseline's count
  EXPECT_DOUBLE_EQ(one.at(3, "Improvement (%)").number(), 20);
  EXPECT_EQ(one.at(4, "Status").text, "Similar");
  const Table two = dashboard_table(compare_runs(a, {b, c}, 1));
  EXPECT_DOUBLE_EQ(two.at(1, "c Improvement (%)").number(), -10);
  EXPECT_EQ(two.at(1, "c Status").text, "Worse");
  EXPECT_TRUE(two.at(2, "c").is_null());
  const Report report = final_report(compare_runs(a, {b}, 1));
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
  a.collectives.summary = {collectives(2, 50, 3, "0")};
  b.collectives.summary = {collectives(6, 50, 3, "0")};
  const CollectiveKey key{"allreduce", "BFloat16", 1024, "0"};
  a.collectives.samples[key] = {{1, 2, 3}, {1, 2, 3}};
  b.collectives.samples[key] = {{4, 6, 8}, {4, 6, 8}};
  const Comparison c = compare_runs(a, {b}, 1);
  const DashboardRow& row = c.dashboard.rows.front();
  ASSERT_EQ(row.metric, "NCCL_comm_latency");
  ASSERT_TRUE(row.tests[0]->low);
  const Judgement& single = c.collectives[0].all_ranks[0].judgement;
  EXPECT_NEAR(*row.tests[0]->low, *single.low, 1e-9);
  EXPECT_NEAR(*row.tests[0]->high, *single.high, 1e-9);
  const auto welch = welch95(sample_stats({1, 2, 3}), sample_stats({4, 6, 8}));
  EXPECT_NEAR(*row.tests[0]->high, -200 + welch->half_width / 2 * 100, 1e-9);
  EXPECT_EQ(row.tests[0]->samples_base, 3U);
}

TEST(CompareRuns, APartComesBackWhole) {
  ComparePart part;
  part.rank = 5;
  part.timeline = timeline(100, 3, true);
  part.timeline.step_ns[TimeKind::kTotal] = {{7, 40 * kMs}, {8, -1}};
  part.timeline.step_ns[TimeKind::kBusy] = {{7, 0}}; // a kind of the steps alone
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
  // a kind that there is not
  std::vector<KindRecord> records(1);
  records[0].kind = static_cast<TimeKind>(kTimeKinds);
  EXPECT_FALSE(decode_part<KindRecord>("k", 1, encode_part("k", 1, records[0])));
}

} // namespace
} // namespace rankscope
