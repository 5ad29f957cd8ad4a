// Exposed communication, worked by hand.
#include "analyses/job/exposed.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Ranks with nodes of known times, all on one stream each.
class HandMadeRun {
public:
  explicit HandMadeRun(std::size_t ranks) : run_() {
    for (std::size_t r = 0; r < ranks; ++r) {
      RankGraph& rank = run_.ranks.emplace_back();
      rank.rank = static_cast<std::int64_t>(r);
      rank.lines.push_back({true, 7, 0});
      rank.activities.push_back({ActivityKind::kKernel});
      rank.activities.push_back({ActivityKind::kCollective});
    }
  }
  void kernel(std::uint32_t rank, std::int64_t start, std::int64_t dur) {
    builder_.add(rank, local(rank, 0, start, dur), start, dur, NodeRole::kActivity);
  }
  /// On its own: no other member was read.
  void alone(std::uint32_t rank, std::int64_t start, std::int64_t dur) {
    builder_.add(rank, local(rank, 1, start, dur), start, dur, NodeRole::kActivity);
  }
  /// Member m on rank m.
  void collective(const std::vector<std::int64_t>& starts, std::int64_t end) {
    std::vector<JobRunBuilder::Member> members;
    for (std::uint32_t r = 0; r < starts.size(); ++r)
      members.push_back({builder_.add(r, local(r, 1, starts[r], end - starts[r]), starts[r], 0,
                                      NodeRole::kArrival),
                         starts[r], end});
    run_.collectives.push_back({0, builder_.transfer(members, 1)});
  }
  ExposedTime exposed() {
    builder_.finish(run_, Trust::kTimes);
    return exposed_time(run_, CountedSteps(run_, {}));
  }

private:
  NodeId local(std::uint32_t rank, std::uint32_t activity, std::int64_t start, std::int64_t dur) {
    run_.ranks[rank].nodes.push_back({start, dur, activity, 0, -1});
    return static_cast<NodeId>(run_.ranks[rank].nodes.size() - 1);
  }
  JobRun run_;
  JobRunBuilder builder_;
};

constexpr double kNsAsMs = 1e-6;

TEST(ExposedTime, IsWaitingUntilTheLastArrivesAndTransferFromThenOn) {
  HandMadeRun run(2);
  run.kernel(0, 20, 10); // overlapping the collective
  run.collective({10, 40}, 50);
  const ExposedTime of = run.exposed();
  // rank 0 waits from 10 to 40 less 20 to 30, rank 1 does not; both transfer for 10
  EXPECT_NEAR(of.wait_ms, 20 * kNsAsMs / 2, 1e-12);
  EXPECT_NEAR(of.transfer_ms, 20 * kNsAsMs / 2, 1e-12);
  EXPECT_EQ(of.unmatched_ms, 0);
  ASSERT_EQ(of.wait_for.size(), 1U);
  EXPECT_EQ(of.wait_for[0].first, 1);
  EXPECT_NEAR(of.wait_for[0].second, of.wait_ms, 1e-12);
}

TEST(ExposedTime, OverlappingCollectivesOfARankCountOnce) {
  HandMadeRun run(1);
  run.alone(0, 0, 100);
  run.alone(0, 50, 100);
  const ExposedTime of = run.exposed();
  EXPECT_NEAR(of.unmatched_ms, 150 * kNsAsMs, 1e-12);
  EXPECT_EQ(of.wait_ms, 0);
  EXPECT_EQ(of.transfer_ms, 0);
  EXPECT_TRUE(of.wait_for.empty());
}

TEST(ExposedTime, WhatAKernelHidesIsNotExposed) {
  HandMadeRun run(2);
  run.kernel(0, 0, 200);
  run.kernel(1, 0, 200);
  run.collective({10, 40}, 50);
  EXPECT_EQ(run.exposed().total_ms(), 0);
}

} // namespace
} // namespace rankscope
