// Tests the history of runs with hand-calculated values: metrics, levels and changes.
#include "analyses/compare/history.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kHistoryMs = 1'000'000;

/// Returns a run of one rank with two steps whose mean is `ms`, and with a collective that takes
/// `us`.
ComparedRun run_of(int number, double ms, double us) {
  ComparedRun run;
  run.label = "build-" + std::to_string(number);
  RankTimeline& timeline = run.ranks[0];
  const auto ns = static_cast<std::int64_t>(ms * kHistoryMs);
  timeline.kinds[TimeKind::kTotal] = {7 * ns, 100}; // the window may differ between runs
  timeline.step_ns[TimeKind::kTotal] = {{1, ns - kHistoryMs}, {2, ns + kHistoryMs}};
  SyncSummary s;
  s.name = "allreduce";
  s.count = 10;
  s.latency_us.mean = us;
  s.bus_gbps.mean = 1000 / us;
  s.start_skew_us.mean = NAN;
  run.collectives.summary.push_back(s);
  return run;
}

const MetricHistory* metric(const History& history, const std::string& name) {
  for (const MetricHistory& row : history.metrics)
    if (row.metric == name)
      return &row;
  return nullptr;
}

TEST(History, AStepIsFoundAndAllElseIsSaidToBeUnchanged) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 24; ++i)
    runs.push_back(run_of(i, (i < 14 ? 100 : 110) + (i * 7 % 5) * 0.2, 50 + (i * 3 % 4) * 0.1));
  const History history = history_of(runs);
  EXPECT_TRUE(history.per_step);
  ASSERT_EQ(history.metrics.size(), 3U); // total, latency, bandwidth; the skew is unknown
  const MetricHistory* const total = metric(history, "GPU_total_time");
  ASSERT_NE(total, nullptr);
  EXPECT_NEAR(*total->values[0], 100, 1e-9); // mean of the steps, not of the complete window
  ASSERT_EQ(total->changes.size(), 1U);
  const LevelChange& change = total->changes[0];
  EXPECT_EQ(change.run, 14U);
  EXPECT_NEAR(change.before, total->levels[0], 1e-12);
  EXPECT_NEAR(change.after, total->levels[23], 1e-12);
  EXPECT_NEAR(*change.improvement_percent, -(change.after - change.before) / change.before * 100,
              1e-9);
  EXPECT_LT(*change.low_percent, *change.improvement_percent);
  EXPECT_LT(*change.high_percent, 0);
  const MetricHistory* const latency = metric(history, "NCCL_comm_latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_NEAR(*latency->values[0], 0.5, 1e-12); // 10 collectives of 50 us
  EXPECT_TRUE(latency->changes.empty());
  const MetricHistory* const bandwidth = metric(history, "NCCL_bus_bandwidth");
  ASSERT_NE(bandwidth, nullptr);
  EXPECT_EQ(bandwidth->better, Better::kHigher);

  const Report report = history_report(history);
  EXPECT_EQ(report.find("History")->rows(), 3U);
  EXPECT_EQ(report.find("History")->at(0, "status").text, "1 change");
  EXPECT_EQ(report.find("History")->at(1, "status").text, "no change");
  EXPECT_EQ(report.find("Change_Points")->at(0, "run").text, "build-14");
  EXPECT_EQ(report.find("Series")->rows(), 3U * 24);
}

// A run without the metric has a blank value; changes are still found in the other runs.
TEST(History, ARunWithoutAFigureIsLeftOut) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 24; ++i)
    runs.push_back(run_of(i, (i < 12 ? 100 : 110) + (i % 3) * 0.2, 50));
  runs[4].ranks.at(0).step_ns[TimeKind::kTotal].clear();
  runs[4].ranks.at(0).step_ns[TimeKind::kBusy][1] = kHistoryMs;
  const History history = history_of(runs);
  const MetricHistory* const total = metric(history, "GPU_total_time");
  ASSERT_NE(total, nullptr);
  EXPECT_FALSE(total->values[4]);
  EXPECT_EQ(total->runs, 23U);
  ASSERT_EQ(total->changes.size(), 1U);
  EXPECT_EQ(total->changes[0].run, 12U); // index among all runs
}

// Regression test: one outlier run reduced the metric of all runs to the one small collective that
// all have in common.
TEST(History, ARunWithOtherCollectivesIsBlankAndNamed) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 13; ++i) {
    runs.push_back(run_of(i, 100, 50 + (i % 3) * 0.1));
    SyncSummary barrier = runs.back().collectives.summary.front();
    barrier.in_nelems = 1;
    barrier.latency_us.mean = 2;
    runs.back().collectives.summary.push_back(barrier);
  }
  runs[0].collectives.summary[0].group = "other"; // the first run, whose counts were the weights
  const History history = history_of(runs);
  const MetricHistory* const latency = metric(history, "NCCL_comm_latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_FALSE(latency->values[0]);
  EXPECT_NEAR(*latency->values[1], 10 * (50.1 + 2) / 1e3, 1e-12);
  EXPECT_EQ(latency->runs, 12U);
  EXPECT_TRUE(latency->changes.empty());
  EXPECT_EQ(history.collectives, 2U);
  ASSERT_EQ(history.missing.size(), 1U);
  EXPECT_EQ(history.missing[0].run, 0U);
  EXPECT_EQ(history.missing[0].reason, MissingMetrics::Reason::kFewCollectives);
  EXPECT_EQ(history.missing[0].collectives, 1U);
}

// The second half of the runs lacks the slow rank: the mean over all ranks was 20 % less.
TEST(History, ALostRankIsNotAChange) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 14; ++i) {
    runs.push_back(run_of(i, 100 + (i % 3) * 0.1, 50));
    if (i < 7)
      runs.back().ranks[1] = run_of(i, 150, 50).ranks.at(0);
  }
  const History history = history_of(runs);
  const MetricHistory* const total = metric(history, "GPU_total_time");
  ASSERT_NE(total, nullptr);
  EXPECT_NEAR(*total->values[0], 100, 1e-9);
  EXPECT_TRUE(total->changes.empty());
}

// Times of complete traces with different lengths are not comparable with step times.
TEST(History, RunsWithoutStepsAmongOthersHaveNoTimes) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 12; ++i)
    runs.push_back(run_of(i, 100 + (i % 3) * 0.1, 50));
  runs[7].ranks.at(0).step_ns.clear();
  History history = history_of(runs);
  EXPECT_TRUE(history.per_step);
  EXPECT_NEAR(*metric(history, "GPU_total_time")->values[0], 100, 1e-9);
  EXPECT_FALSE(metric(history, "GPU_total_time")->values[7]);
  ASSERT_EQ(history.missing.size(), 1U);
  EXPECT_EQ(history.missing[0].run, 7U);
  EXPECT_EQ(history.missing[0].reason, MissingMetrics::Reason::kNoSteps);
  for (ComparedRun& run : runs)
    run.ranks.at(0).step_ns.clear();
  history = history_of(runs);
  EXPECT_NEAR(*metric(history, "GPU_total_time")->values[0], 700, 1e-9);
  EXPECT_FALSE(history.per_step);
  EXPECT_TRUE(history.missing.empty());
}

TEST(History, SkewIsOfRunsWithTheClocksOfMost) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 12; ++i) {
    runs.push_back(run_of(i, 100, 50));
    runs.back().collectives.summary[0].start_skew_us.mean = 5;
    runs.back().collectives.clocks = i == 0 ? ClockState::kRaw : ClockState::kAligned;
  }
  const History history = history_of(runs);
  const MetricHistory* const skew = metric(history, "NCCL_start_skew");
  ASSERT_NE(skew, nullptr);
  EXPECT_FALSE(skew->values[0]);
  EXPECT_EQ(skew->runs, 11U);
  ASSERT_EQ(history.missing.size(), 1U);
  EXPECT_EQ(history.missing[0].run, 0U);
  EXPECT_EQ(history.missing[0].reason, MissingMetrics::Reason::kOtherClocks);
}

// Each of three collectives is in two of three runs, so each counts, but no run has all of them.
TEST(History, NoRunHasToHaveAllCollectives) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(run_of(i, 100, 50));
    runs.back().collectives.summary.push_back(runs.back().collectives.summary[0]);
    for (int k = 0; k < 2; ++k)
      runs.back().collectives.summary[static_cast<std::size_t>(k)].name = "abc"[(i + k) % 3];
  }
  const History history = history_of(runs);
  EXPECT_EQ(history.collectives, 3U);
  EXPECT_EQ(metric(history, "NCCL_comm_latency"), nullptr);
  EXPECT_EQ(history.missing.size(), 3U);
}

} // namespace
} // namespace rankscope
