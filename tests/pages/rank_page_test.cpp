// Tests what a page shows of one trace, with hand-calculated values.
#include "pages/data/rank_page.h"

#include "trace_builder.h"

#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

/// Returns a trace (times in us): a product from 10 to 30 (launched at 2); a collective from 20 to
/// 50 on another stream (launched at 4), hidden for 10 by the product; a copy from 60 to 64
/// (launched at 61, after its start).
LoadedTrace small() {
  test::TraceBuilder b;
  b.op("aten::mm", 1, 3, R"({"Input Dims":[[4,8],[8,2]],"Input type":["float","float"]})");
  b.kernel("Cijk_gemm", 2, 10, 20, 7);
  b.kernel("ncclDevKernel_AllReduce", 4, 20, 30, 9);
  b.copy("Memcpy DtoH", 61, 60, 4);
  return b.load();
}

RankPage page_of(const LoadedTrace& trace, const PageDetail& detail = {}) {
  auto page = rank_page_of(trace, {}, detail);
  EXPECT_TRUE(page) << page.error().message();
  return page ? std::move(*page) : RankPage{};
}

TEST(RankPage, LanesHoldTheEventsWithTheirStory) {
  const LoadedTrace trace = small();
  const RankPage page = page_of(trace);
  EXPECT_EQ(page.end_ns - page.start_ns, 54'000);
  ASSERT_EQ(page.lanes.size(), 2U);
  const PageLane& seven = page.lanes[0];
  EXPECT_EQ(seven.stream, 7);
  ASSERT_EQ(seven.events.size(), 2U);
  EXPECT_EQ(page.texts.view(seven.events[0].name), "Cijk_gemm");
  EXPECT_EQ(page.texts.view(seven.events[0].op), "aten::mm");
  EXPECT_EQ(page.texts.view(seven.events[0].about), "4x8 8x2");
  EXPECT_EQ(seven.events[0].delay_ns, 8'000);
  ASSERT_LT(seven.events[0].operator_row, page.operators.size());
  EXPECT_EQ(page.operators[seven.events[0].operator_row].name, "aten::mm");
  EXPECT_EQ(seven.events[1].at.kind, LaneKind::kCopy);
  EXPECT_LT(seven.events[1].delay_ns, 0);
  const PageLane& nine = page.lanes[1];
  ASSERT_EQ(nine.events.size(), 1U);
  EXPECT_EQ(nine.events[0].at.kind, LaneKind::kExposedComm);
  EXPECT_EQ(nine.events[0].hidden_ns, 10'000);
  EXPECT_FALSE(nine.columns.has_value());
}

// Products of the same shapes with two types, and with and without transposition, are separate
// rows.
TEST(RankPage, AnEventIsOfTheRowOfItsArguments) {
  test::TraceBuilder b;
  const char* const arguments[] = {
      R"({"Input Dims":[[4,8],[8,2]],"Input type":["float","float"]})",
      R"({"Input Dims":[[4,8],[8,2]],"Input type":["c10::BFloat16","c10::BFloat16"]})",
      R"({"Input Dims":[[4,8],[8,2]],"Input type":["float","float"],"Input Strides":[[1,4],[2,1]]})"};
  for (int i = 0; i < 3; ++i) {
    b.op("aten::mm", 1 + 10 * i, 3, arguments[i]);
    b.kernel("Cijk_gemm", 2 + 10 * i, 100 + 100 * i, 10 + 10 * i, 7);
  }
  const RankPage page = page_of(b.load());
  ASSERT_EQ(page.operators.size(), 3U);
  ASSERT_EQ(page.lanes.size(), 1U);
  std::set<std::uint32_t> rows;
  for (const PageEvent& event : page.lanes[0].events) {
    ASSERT_LT(event.operator_row, 3U);
    rows.insert(event.operator_row);
    EXPECT_EQ(page.operators[event.operator_row].kernel_ns, static_cast<double>(event.at.dur_ns));
  }
  EXPECT_EQ(rows.size(), 3U);
}

TEST(RankPage, QueueAndIdleTimeByColumns) {
  const LoadedTrace trace = small();
  PageDetail detail;
  detail.slots = 54; // of 1 us
  const RankPage page = page_of(trace, detail);
  EXPECT_EQ(page.queue.width_ns, 1000);
  // the collective waits from 4 to 20; the span starts at 10
  EXPECT_DOUBLE_EQ(page.queue.depth[0], 1);
  EXPECT_DOUBLE_EQ(page.queue.depth[9], 1);
  EXPECT_DOUBLE_EQ(page.queue.depth[10], 0);
  EXPECT_EQ(page.queue.most[3], 1U);
  std::int64_t idle = 0;
  for (const auto& column : page.queue.idle_ns)
    for (const std::int64_t ns : column)
      idle += ns;
  EXPECT_EQ(idle, 10'000); // from 50 to 60
  EXPECT_EQ(idle, trace.shared(IdleKey{}).total_ns());
  EXPECT_EQ(page.queue.idle_ns[45][static_cast<std::size_t>(IdleCause::kHost)], 1000);
}

TEST(RankPage, SpreadsAreNearestRanks) {
  test::TraceBuilder b;
  for (int i = 1; i <= 20; ++i)
    b.kernel("k", i * 100, i * 100 + 10, i);
  const RankPage page = page_of(b.load());
  ASSERT_EQ(page.kernels.size(), 1U);
  const KernelSpread& k = page.kernels[0];
  EXPECT_EQ(k.count, 20);
  EXPECT_EQ(k.sum_ns, 210'000);
  EXPECT_EQ(k.min_ns, 1000);
  EXPECT_EQ(k.p25_ns, 5000);
  EXPECT_EQ(k.median_ns, 10'000);
  EXPECT_EQ(k.p75_ns, 15'000);
  EXPECT_EQ(k.p95_ns, 19'000);
  EXPECT_EQ(k.max_ns, 20'000);
}

TEST(RankPage, HoldsNoMoreThanItMay) {
  test::TraceBuilder b;
  for (int i = 0; i < 4000; ++i)
    b.kernel("k" + std::to_string(i % 7), i * 10, i * 10 + 2, 1 + i % 5);
  PageDetail detail;
  detail.events = 1000;
  detail.columns = 64;
  detail.tiles = 16;
  const RankPage page = page_of(b.load(), detail);
  ASSERT_EQ(page.lanes.size(), 1U);
  EXPECT_EQ(page.lanes[0].in_trace, 4000U);
  EXPECT_LE(page.lanes[0].events.size(), 1600U);
  ASSERT_TRUE(page.lanes[0].columns.has_value());
  std::int64_t compute = 0;
  for (const auto& column : page.lanes[0].columns->ns)
    compute += column[0];
  EXPECT_EQ(compute, 12'000'000); // every event counts in the columns: 800 * (1 + ... + 5) us
}

TEST(RankPage, NothingOnTheGpu) {
  test::TraceBuilder b;
  b.op("aten::add", 1, 2);
  const RankPage page = page_of(b.load());
  EXPECT_TRUE(page.lanes.empty());
  EXPECT_EQ(page.start_ns, page.end_ns);
}

} // namespace
} // namespace rankscope
