// Tests the plots of a comparison with handmade facts: what is grey, what has error bars, and what
// is left out.
#include "pages/compare_plots.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Returns a timeline with steps around `ms`, and with copies if `copies` is true.
RankTimeline timeline(std::int64_t ms, bool copies) {
  RankTimeline out;
  for (const std::int64_t step : {0, 1, 2, 3})
    out.step_ns[TimeKind::kTotal][step] = ms * kMs + (step - 2) * kMs / 100;
  out.kinds[TimeKind::kTotal] = {4 * ms * kMs, 100};
  out.kinds[TimeKind::kTotalMemcpy] = {copies ? kMs : 0, 0};
  return out;
}

const PlotSpec* plot(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                     const std::string& name) {
  const auto found =
      std::find_if(plots.begin(), plots.end(), [&](const auto& p) { return p.first == name; });
  return found == plots.end() ? nullptr : &found->second;
}

Comparison compared(std::int64_t base_ms, std::int64_t test_ms, bool copies) {
  ComparedRun a;
  a.label = "a";
  ComparedRun b;
  b.label = "b";
  for (const std::int64_t rank : {0, 1}) {
    a.ranks.emplace(rank, timeline(base_ms, false));
    b.ranks.emplace(rank, timeline(rank == 0 ? test_ms : base_ms, copies));
  }
  return compare_runs(a, {b}, {});
}

TEST(ComparePlots, GreyIsWhatCannotBeToldApartAndIntervalsBelongToTheBars) {
  const Comparison c = compared(100, 110, false);
  const auto plots = compare_plots(c);
  const PlotSpec* const heat = plot(plots, "gpu_time_heatmap");
  ASSERT_NE(heat, nullptr);
  const PlotSeries& total = heat->panels[0].series.back();
  ASSERT_EQ(total.label, "total_time");
  EXPECT_EQ(total.grey, (std::vector<bool>{false, true})); // rank 1 is unchanged
  const PlotSpec* const improvement = plot(plots, "improvement_chart");
  ASSERT_NE(improvement, nullptr);
  const PlotPanel& bars = improvement->panels[0];
  ASSERT_EQ(bars.categories.back(), "GPU_total_time");
  const Judgement& j = c.dashboard.rows.back().tests[0]->judgement;
  EXPECT_DOUBLE_EQ(bars.series[0].values.back(), *j.change);
  EXPECT_DOUBLE_EQ(bars.series[0].intervals.back().first, *j.low);
  EXPECT_DOUBLE_EQ(bars.series[0].intervals.back().second, *j.high);
  // the bar ends in the middle of its interval
  EXPECT_NEAR((*j.low + *j.high) / 2, *j.change, 1e-9);
  EXPECT_FALSE(bars.series[0].grey.back());
  EXPECT_TRUE(bars.series[0].grey.front()); // no copies in either run
}

// Copies in only one run have no percentage: their panel is empty.
TEST(ComparePlots, EmptyPanelsAreLeftOut) {
  const auto plots = compare_plots(compared(100, 110, true));
  const PlotSpec* const detail = plot(plots, "gpu_time_change_percentage_summary_by_rank");
  ASSERT_NE(detail, nullptr);
  ASSERT_EQ(detail->panels.size(), 1U); // of eight kinds of time
  EXPECT_EQ(detail->panels[0].title, "total_time");
  EXPECT_EQ(plot(plots, "NCCL_Bus_Bandwidth_comparison"), nullptr);
}

TEST(ComparePlots, MeansOfCollectivesCarryTheIntervalOfTheirSamples) {
  ComparedRun a;
  a.label = "a";
  SyncSummary s;
  s.name = "allreduce";
  s.dtype = "Float";
  s.in_nelems = 4;
  s.group = "0";
  s.count = 3;
  s.latency_us.mean = 2;
  s.bus_gbps.mean = s.algo_gbps.mean = NAN;
  a.collectives.summary = {s};
  a.collectives.samples[key_of(s)].latency_us = {1, 2, 3};
  a.ranks.emplace(0, timeline(100, false));
  ComparedRun b = a;
  b.label = "b";
  const auto plots = compare_plots(compare_runs(a, {b}, {}));
  const PlotSpec* const latency = plot(plots, "NCCL_Communication_Latency_comparison");
  ASSERT_NE(latency, nullptr);
  for (const PlotSeries& series : latency->panels[0].series) {
    EXPECT_DOUBLE_EQ(series.values[0], 2);
    // 4.303 / sqrt(3): Student's t with 2 degrees of freedom
    EXPECT_NEAR(series.intervals[0].second, 2 + 4.30265 / std::sqrt(3), 1e-4);
  }
  EXPECT_TRUE(latency->panels[0].series[1].grey[0]);
  EXPECT_EQ(plot(plots, "NCCL_Bus_Bandwidth_comparison"), nullptr); // the bandwidth is unknown
}

} // namespace
} // namespace rankscope
