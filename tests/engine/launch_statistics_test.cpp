// Tests launches, queues and idle time of streams with hand-calculated values.
#include "analyses/timeline/launch_statistics.h"
#include "analyses/timeline/stream_idle.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

TEST(LaunchStatistics, OfCallsByName) {
  // calls take 1 us: delays of 29 and 4 us, and a kernel that starts during its call
  const LoadedTrace t = TraceBuilder()
                            .kernel("a", 1000, 1030, 4)
                            .kernel("b", 1100, 1105, 0.5)
                            .kernel("c", 1200, 1200.5, 200)
                            .load();
  const std::vector<LaunchStatisticsRow> rows = launch_statistics_of(t);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "hipLaunchKernel");
  EXPECT_EQ(rows[0].launches, 3U);
  EXPECT_DOUBLE_EQ(rows[0].call_us.sum, 3);
  EXPECT_DOUBLE_EQ(rows[0].gpu_us.sum, 204.5);
  EXPECT_DOUBLE_EQ(rows[0].delay_us.sum, 33);
  EXPECT_DOUBLE_EQ(rows[0].delay_us.min, 0);
  EXPECT_EQ(rows[0].short_kernels, 1U);
  EXPECT_EQ(rows[0].long_calls, 0U);
  EXPECT_EQ(rows[0].long_delays, 0U);
}

TEST(QueueLength, OfOneStream) {
  const LoadedTrace t =
      TraceBuilder().kernel("a", 0, 5, 1).kernel("b", 10, 30, 1).kernel("c", 20, 60, 1).load();
  const std::vector<QueueLengthRow> rows = queue_lengths_of(t); // lengths 1, 0, 1, 2, 1, 0
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].stream, 7);
  EXPECT_EQ(rows[0].points, 6U);
  EXPECT_DOUBLE_EQ(rows[0].mean, 5.0 / 6);
  EXPECT_DOUBLE_EQ(rows[0].min, 0);
  EXPECT_DOUBLE_EQ(rows[0].median, 1);
  EXPECT_DOUBLE_EQ(rows[0].max, 2);
  EXPECT_EQ(rows[0].full_ns, 0);
  EXPECT_EQ(rows[0].trace_ns, 61'000);
}

TEST(QueueLength, IsFullFrom1024OnAndLeavesUnlaunchedWorkOut) {
  TraceBuilder b;
  for (int i = 0; i < kFullQueue; ++i)
    b.kernel("k", 2 * i, 10'000 + 2 * i, 1);
  const LoadedTrace t = b.unlaunched("k", 50'000, 1).load();
  const std::vector<QueueLengthRow> rows = queue_lengths_of(t);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].points, 2U * kFullQueue);
  EXPECT_DOUBLE_EQ(rows[0].max, 1024);
  // from the last launch to the start of the first kernel
  EXPECT_EQ(rows[0].full_ns, 10'000'000 - 2'046'000);
}

TEST(StreamIdle, ByCause) {
  const LoadedTrace t = TraceBuilder()
                            .kernel("k0", 90, 100, 50)
                            .kernel("k1", 120, 160, 40)
                            .kernel("k2", 210, 300, 50)
                            .kernel("k3", 340, 500, 20)
                            .unlaunched("k4", 510, 10) // overlaps the end of k3
                            .load();
  const std::vector<StreamIdleRow> rows = stream_idle_of(t);
  ASSERT_EQ(rows.size() % kStreamIdleCauses, 0U);
  const auto row_of_cause = [&](StreamIdleCause cause) {
    return *std::find_if(rows.begin(), rows.end(), [cause](const StreamIdleRow& r) {
      return r.stream == 7 && r.cause == cause;
    });
  };
  EXPECT_DOUBLE_EQ(row_of_cause(StreamIdleCause::kHostWait).gap_us.sum, 100);
  EXPECT_DOUBLE_EQ(row_of_cause(StreamIdleCause::kKernelWait).gap_us.sum, 10);
  EXPECT_EQ(row_of_cause(StreamIdleCause::kKernelWait).gap_us.count, 1U);
  EXPECT_DOUBLE_EQ(row_of_cause(StreamIdleCause::kOther).gap_us.sum, 150);
  EXPECT_DOUBLE_EQ(row_of_cause(StreamIdleCause::kHostWait).percent, 100 * 100 / 260.0);
}

// [1000, 5000) contains [2000, 3000). The gaps are [5000, 6000) and [7000, 8000) us.
TEST(StreamIdle, EventsWithinEventsLeaveNoGap) {
  const LoadedTrace t = TraceBuilder()
                            .kernel("a", 10, 1000, 4000)
                            .kernel("b", 20, 2000, 1000)
                            .kernel("c", 30, 6000, 1000)
                            .kernel("d", 40, 8000, 1000)
                            .load();
  const std::vector<StreamIdleRow> rows = stream_idle_of(t);
  ASSERT_EQ(rows.size(), kStreamIdleCauses);
  EXPECT_EQ(rows[1].gap_us.count, 0U);
  EXPECT_EQ(rows[2].cause, StreamIdleCause::kOther);
  EXPECT_EQ(rows[2].gap_us.count, 2U);
  EXPECT_DOUBLE_EQ(rows[2].gap_us.sum, 2000);
  EXPECT_DOUBLE_EQ(rows[2].gap_us.max, 1000);
  EXPECT_DOUBLE_EQ(rows[2].percent, 100);
}

} // namespace
} // namespace rankscope
