// What a late rank does longer between collectives, worked by hand.
#include "analyses/job/late_rank_parts.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::size_t kLateRun = 4; ///< ranks

/// Each rank leaves a collective at 100, runs a kernel, and arrives at the next one; all leave that
/// at 200. On the last rank the kernel takes 10 longer, and one more of 5 follows it.
class TwoCollectives {
public:
  TwoCollectives() : run_() {
    for (std::size_t r = 0; r < kLateRun; ++r) {
      RankGraph& rank = run_.ranks.emplace_back();
      rank.rank = static_cast<std::int64_t>(r);
      rank.lines.push_back({true, 7, 0});
      rank.activities.push_back({ActivityKind::kCollective});
      rank.activities.push_back({ActivityKind::kKernel, rank.texts.intern("usual")});
      rank.activities.push_back({ActivityKind::kKernel, rank.texts.intern("more")});
    }
    const std::vector<NodeId> first = collective({0, 0, 0, 0}, 100);
    std::vector<NodeId> last;
    for (std::uint32_t r = 0; r < kLateRun; ++r)
      last.push_back(work(r, 1, 100, r == 3 ? 30 : 20, first[r]));
    last[3] = work(3, 2, 130, 5, last[3]);
    collective({120, 120, 120, 135}, 200, last);
    builder_.finish(run_, Trust::kTimes);
    for (JobCollective& of : run_.collectives)
      for (NodeId& transfer : of.transfers)
        transfer = builder_.numbers()[transfer];
  }

  [[nodiscard]] LateRankParts parts(std::uint32_t rank) const {
    const std::vector<std::uint32_t> ranks{rank};
    return late_rank_parts(run_, CountedSteps(run_, {}), PeerPlaces(run_), ranks).front();
  }

private:
  NodeId add(std::uint32_t rank, std::uint32_t activity, std::int64_t start, std::int64_t dur,
             NodeRole role) {
    run_.ranks[rank].nodes.push_back({start, dur, activity, 0, -1});
    return builder_.add(rank, static_cast<NodeId>(run_.ranks[rank].nodes.size() - 1), start,
                        role == NodeRole::kArrival ? 0 : dur, role);
  }
  NodeId work(std::uint32_t rank, std::uint32_t activity, std::int64_t start, std::int64_t dur,
              NodeId after) {
    const NodeId n = add(rank, activity, start, dur, NodeRole::kActivity);
    builder_.wait(n, after, WaitKind::kStream);
    return n;
  }
  std::vector<NodeId> collective(const std::vector<std::int64_t>& starts, std::int64_t end,
                                 const std::vector<NodeId>& after = {}) {
    std::vector<JobRunBuilder::Member> members;
    for (std::uint32_t r = 0; r < starts.size(); ++r) {
      const NodeId arrival = add(r, 0, starts[r], end - starts[r], NodeRole::kArrival);
      if (!after.empty())
        builder_.wait(arrival, after[r], WaitKind::kStream);
      members.push_back({arrival, starts[r], end});
    }
    run_.collectives.push_back({0, builder_.transfer(members, 1)});
    return run_.collectives.back().transfers;
  }

  JobRun run_;
  JobRunBuilder builder_;
};

double excess_ns(const LateRankParts& of, StretchPart part) {
  return of.parts[static_cast<std::size_t>(part)].excess_ms * 1e6;
}

TEST(LateRankParts, AddUpToWhatTheRankIsLater) {
  const TwoCollectives run;
  const LateRankParts late = run.parts(3);
  EXPECT_EQ(late.rank, 3);
  EXPECT_NEAR(late.all.excess_ms * 1e6, 15, 1e-9);
  EXPECT_NEAR(late.all.own_ms * 1e6, 35, 1e-9);
  EXPECT_NEAR(late.all.peers_ms * 1e6, 20, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kKernels), 10, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kExtraKernels), 5, 1e-9);
  EXPECT_NEAR(late.remainder_ms(), 0, 1e-12);
}

TEST(LateRankParts, APeerIsNotLate) {
  const LateRankParts peer = TwoCollectives().parts(1);
  EXPECT_NEAR(peer.all.excess_ms, 0, 1e-12);
  for (std::size_t part = 0; part < kStretchParts; ++part)
    EXPECT_NEAR(peer.parts[part].excess_ms, 0, 1e-12) << part;
}

} // namespace
} // namespace rankscope
