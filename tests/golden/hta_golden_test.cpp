// Compares launch statistics, queue lengths and idle time of streams with HolisticTraceAnalysis
// (HTA; commit f4d0062, with the last profiler step, without rounding of times to microseconds).
#include "analyses/timeline/launch_statistics.h"
#include "analyses/timeline/stream_idle.h"
#include "engine/loader.h"
#include "golden/golden_data.h"

#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

struct HtaQueue {
  std::int64_t stream;
  std::size_t points;
  double mean, std_sample, q1, median, q3, max;
};

struct HtaIdle {
  std::int64_t stream;
  double host_wait_us, kernel_wait_us, other_us;
};

struct HtaTrace {
  const char* file;
  std::size_t launches;
  double call_us, gpu_us, delay_us;
  std::vector<HtaQueue> queues;
  std::vector<HtaIdle> idle;
};

/// HTA prints idle times with two decimals.
constexpr double kShown = 0.0051;
/// HTA stores microseconds since 1970 as doubles. In ns_resolution, these have steps of 0.25 us, so
/// launches and starts less than 0.25 us apart may be in another order, which changes some queue
/// lengths.
constexpr double kOfLengths = 1e-3;
constexpr double kOfDelays = 3e-8;

const std::vector<HtaTrace>& hta_traces() {
  static const std::vector<HtaTrace> kTraces = {
      {"nccl_data.json.gz",
       3774,
       35864.776,
       165185.838,
       103192.246,
       {{7, 7506, 0.814149, 1.058057, 0, 1, 1, 10}, {40, 42, 0.5, 0.506061, 0, 0.5, 1, 1}},
       {{7, 540091.32, 2150.34, 0}, {40, 583924.26, 0, 0}}},
      {"ns_resolution.json.gz",
       6095,
       266051.433,
       472454.441,
       418637213.335,
       {{7, 12190, 847.048811, 283.854305, 819, 1011, 1021, 1022}},
       // exact values from decimal arithmetic; HTA has 1290.81 and 6283.98, see below
       {{7, 1347.125, 6227.613, 0}}},
      {"sampled_rank-0.json.gz",
       1204,
       11050,
       607844,
       20539698,
       {{7, 2104, 25.458175, 22.214858, 3, 22, 42, 80},
        {23, 252, 0.626984, 0.688368, 0, 1, 1, 4},
        {25, 32, 4, 2.382734, 2, 4, 6, 8},
        {84, 16, 0.625, 0.619139, 0, 1, 1, 2},
        {203, 4, 0.5, 0.577350, 0, 0.5, 1, 1}},
       {{7, 397917, 3765, 598335},
        {23, 1214793, 160, 34},
        {25, 560120, 35, 100413},
        {84, 794901, 6, 3142},
        {203, 558073, 0, 0}}},
      {"sampled_rank-1.json.gz",
       1154,
       9602,
       667530,
       20270258,
       {{7, 2004, 27.818363, 25.024360, 3, 24, 49, 91},
        {23, 252, 0.531746, 0.530902, 0, 1, 1, 2},
        {25, 32, 4, 2.382734, 2, 4, 6, 8},
        {84, 16, 0.5, 0.516398, 0, 0.5, 1, 1},
        {203, 4, 0.5, 0.577350, 0, 0.5, 1, 1}},
       {{7, 407794, 3475, 524657},
        {23, 1222526, 134, 30},
        {25, 556447, 17, 91823},
        {84, 715850, 0, 62586},
        {203, 559033, 0, 0}}}};
  return kTraces;
}

void expect_launches(const LoadedTrace& t, const HtaTrace& want) {
  std::size_t launches = 0;
  double call_us = 0;
  double gpu_us = 0;
  double delay_us = 0;
  for (const LaunchStatisticsRow& row : launch_statistics_of(t)) {
    launches += row.launches;
    call_us += row.call_us.sum;
    gpu_us += row.gpu_us.sum;
    delay_us += row.delay_us.sum;
  }
  EXPECT_EQ(launches, want.launches);
  EXPECT_NEAR(call_us, want.call_us, 1e-3);
  EXPECT_NEAR(gpu_us, want.gpu_us, 1e-3);
  EXPECT_NEAR(delay_us, want.delay_us, 1e-2 + kOfDelays * want.delay_us);
}

void expect_queues(const LoadedTrace& t, const HtaTrace& want) {
  const std::vector<QueueLengthRow> rows = queue_lengths_of(t);
  ASSERT_EQ(rows.size(), want.queues.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HtaQueue& q = want.queues[i];
    SCOPED_TRACE("stream " + std::to_string(q.stream));
    EXPECT_EQ(rows[i].stream, q.stream);
    EXPECT_EQ(rows[i].points, q.points);
    EXPECT_NEAR(rows[i].mean, q.mean, kOfLengths);
    EXPECT_NEAR(rows[i].std_sample, q.std_sample, kOfLengths);
    EXPECT_EQ(rows[i].min, 0);
    EXPECT_EQ(rows[i].q1, q.q1);
    EXPECT_EQ(rows[i].median, q.median);
    EXPECT_EQ(rows[i].q3, q.q3);
    EXPECT_EQ(rows[i].max, q.max);
  }
}

void expect_idle(const LoadedTrace& t, const HtaTrace& want) {
  const std::vector<StreamIdleRow> rows = stream_idle_of(t);
  ASSERT_EQ(rows.size(), want.idle.size() * kStreamIdleCauses);
  for (std::size_t i = 0; i < want.idle.size(); ++i) {
    const HtaIdle& expected = want.idle[i];
    SCOPED_TRACE("stream " + std::to_string(expected.stream));
    const StreamIdleRow* const row = &rows[i * kStreamIdleCauses];
    EXPECT_EQ(row->stream, expected.stream);
    EXPECT_NEAR(row[0].gap_us.sum, expected.host_wait_us, kShown);
    EXPECT_NEAR(row[1].gap_us.sum, expected.kernel_wait_us, kShown);
    EXPECT_NEAR(row[2].gap_us.sum, expected.other_us, kShown);
  }
}

TEST(HtaGolden, LaunchesQueuesAndIdleTimeOfStreams) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  for (const HtaTrace& want : hta_traces()) {
    SCOPED_TRACE(want.file);
    const auto t = load_trace((golden::root() / "hta" / want.file).string(), {});
    ASSERT_TRUE(t) << t.error().message();
    expect_launches(*t, want);
    expect_queues(*t, want);
    expect_idle(*t, want);
  }
}

} // namespace
} // namespace rankscope
