// Tests the results of a window of traces, with expected values calculated by hand.
#include "analyses/watch/watch_window.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSteps = 3;

/// Adds an all-reduce of four ranks that ends at `end_ns`.
void add_all_reduce(RankCollectives& out, std::int64_t step, std::int64_t end_ns,
                    std::int64_t dur_ns, std::int64_t hidden_ns) {
  Collective c;
  c.pg_name = out.texts.intern("0");
  c.pg_ranks = out.texts.intern("[0, 1, 2, 3]");
  c.name = out.texts.intern("allreduce");
  c.dtype = out.texts.intern("Float");
  c.kind = CollectiveKind::kAllReduce;
  c.in_nelems = c.out_nelems = 1000;
  c.group_size = 4;
  c.step = step;
  c.dur_ns = dur_ns;
  c.hidden_compute_ns = hidden_ns;
  c.ts_ns = end_ns - dur_ns;
  out.rows.push_back(c);
}

/// Returns a rank with three all-reduces per step, 10 ms each. A late rank starts 2 ms later in
/// each of them. Only the third is exposed: for 3 ms, or for 1 ms on a late rank.
WatchedRank rank_of(std::int64_t rank, bool late) {
  WatchedRank out;
  out.collectives.rank = rank;
  out.step_ms = 100;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const std::int64_t dur = (late ? 8 : 10) * kMs;
    for (int call = 1; call <= 3; ++call)
      add_all_reduce(out.collectives, step, (step * 100 + call * 20) * kMs, dur,
                     call < 3 ? dur : 7 * kMs);
    out.steps.push_back(step);
  }
  return out;
}

// A rank that stays late over hidden collectives delays the step once, where the others wait.
TEST(WatchWindow, OnlyExposedWaitingCounts) {
  std::vector<WatchedRank> ranks;
  for (std::int64_t r = 0; r < 4; ++r)
    ranks.push_back(rank_of(r, r == 2));
  const WatchWindow window = watch_window(std::move(ranks), "steps 0-2");
  ASSERT_EQ(window.lateness.size(), 4U);
  const WatchedLateness& late = window.lateness[2];
  ASSERT_EQ(late.late_us.size(), static_cast<std::size_t>(kSteps));
  EXPECT_DOUBLE_EQ(late.late_us[0], 2000);
  ASSERT_TRUE(late.waits_ms);
  EXPECT_DOUBLE_EQ(*late.waits_ms, 2) << "not 6 ms, the sum over three collectives";
  EXPECT_DOUBLE_EQ(*window.lateness[0].waits_ms, 0);
}

// Without steps, the time per step is unknown.
TEST(WatchWindow, WithoutStepsTheWaitIsUnknown) {
  std::vector<WatchedRank> ranks;
  for (std::int64_t r = 0; r < 4; ++r) {
    ranks.push_back(rank_of(r, r == 2));
    ranks.back().step_ms = 0;
  }
  const WatchWindow window = watch_window(std::move(ranks), "all");
  ASSERT_EQ(window.lateness.size(), 4U);
  EXPECT_FALSE(window.lateness[2].waits_ms);
}

/// Returns a rank of a pipeline of four ranks with two sends to the next rank in each step.
WatchedRank stage_of(std::int64_t rank) {
  WatchedRank out;
  out.collectives.rank = rank;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    out.steps.push_back(step);
    for (std::int64_t batch = 0; batch < 2; ++batch)
      for (const bool sends : {false, true}) {
        if (rank == (sends ? 3 : 0))
          continue;
        const std::int64_t at = (step * 100 + batch * 20 + rank * 5 + (sends ? 5 : 0)) * kMs;
        add_all_reduce(out.collectives, step, at, kMs, 0);
        Collective& c = out.collectives.rows.back();
        c.name = out.collectives.texts.intern(sends ? "send" : "recv");
        c.kind = sends ? CollectiveKind::kSend : CollectiveKind::kRecv;
        c.seq = static_cast<std::int64_t>(out.collectives.rows.size());
        c.src_rank = sends ? rank : rank - 1;
        c.dst_rank = c.src_rank + 1;
      }
  }
  return out;
}

// The ranks at the ends of a pipeline have half the sends and receives of the others.
TEST(WatchWindow, APipelineIsNoHang) {
  const auto window_of = [](bool lacks) {
    std::vector<WatchedRank> ranks;
    for (std::int64_t r = 0; r < 4; ++r)
      ranks.push_back(stage_of(r));
    if (lacks) // rank 3 does not enter the second receive of step 1
      ranks[3].collectives.rows.erase(ranks[3].collectives.rows.begin() + 3,
                                      ranks[3].collectives.rows.end());
    return watch_window(std::move(ranks), "steps 0-2");
  };
  EXPECT_TRUE(window_of(false).gaps.empty());
  const WatchWindow stuck = window_of(true);
  ASSERT_EQ(stuck.gaps.size(), 1U);
  EXPECT_EQ(stuck.gaps[0].entered, std::vector<std::int64_t>{2});
  EXPECT_EQ(stuck.gaps[0].absent, std::vector<std::int64_t>{3});
  EXPECT_EQ(stuck.gaps[0].name, "send");
  EXPECT_EQ(stuck.gaps[0].where, "in step 1");
  EXPECT_EQ(stuck.gaps[0].collectives, 1); // step 2 is the last one and may be incomplete
}

// In each step, 4000 bytes take 1 ms and 4 bytes take 10 us: bus bandwidth is 1.5 x bytes / time.
TEST(WatchWindow, BandwidthIsWeightedByTransferTime) {
  std::vector<WatchedRank> ranks;
  for (std::int64_t r = 0; r < 4; ++r) {
    WatchedRank& rank = ranks.emplace_back();
    rank.collectives.rank = r;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      rank.steps.push_back(step);
      add_all_reduce(rank.collectives, step, (step * 100 + 20) * kMs, kMs, 0);
      add_all_reduce(rank.collectives, step, (step * 100 + 40) * kMs, kMs / 100, 0);
      rank.collectives.rows.back().in_nelems = rank.collectives.rows.back().out_nelems = 1;
    }
  }
  const WatchWindow window = watch_window(std::move(ranks), "steps 0-2");
  EXPECT_EQ(window.bandwidths.size(), 2U);
  EXPECT_NEAR(summary_of(window, 1, 4).bus_gbps, 1.5 * 4004 / 1.01e6, 1e-9);
}

} // namespace
} // namespace rankscope
