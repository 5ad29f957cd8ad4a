// What a late rank does longer between collectives, worked by hand.
#include "analyses/job/late_rank_parts.h"
#include "engine/hand_made_run.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::size_t kLateRun = 4; ///< ranks

/// Each rank leaves a collective at 100, runs a kernel, and arrives at the next one; all leave that
/// at 200. On the last rank the kernel takes 10 longer, and one more of 5 follows it.
LateRankParts parts_of_rank(std::uint32_t rank) {
  test::HandMadeRun hand(kLateRun, {{ActivityKind::kCollective},
                                    {ActivityKind::kKernel, "usual"},
                                    {ActivityKind::kKernel, "more"}});
  const std::vector<NodeId> first = hand.collective({0, 0, 0, 0}, 100);
  std::vector<NodeId> last;
  for (std::uint32_t r = 0; r < kLateRun; ++r)
    last.push_back(hand.add_after(first[r], r, 1, 100, r == 3 ? 30 : 20));
  last[3] = hand.add_after(last[3], 3, 2, 130, 5);
  hand.collective({120, 120, 120, 135}, 200, last);
  const JobRun run = hand.finish();
  const std::vector<std::uint32_t> ranks{rank};
  return late_rank_parts(run, CountedSteps(run, {}, step_ends(run, {})), PeerPlaces(run, ranks),
                         ranks)
      .front();
}

double excess_ns(const LateRankParts& late, StretchPart part) {
  return late.parts[static_cast<std::size_t>(part)].excess_ms * 1e6;
}

TEST(LateRankParts, AddUpToWhatTheRankIsLater) {
  const LateRankParts late = parts_of_rank(3);
  EXPECT_EQ(late.rank, 3);
  EXPECT_NEAR(late.all.excess_ms * 1e6, 15, 1e-9);
  EXPECT_NEAR(late.all.rank_ms * 1e6, 35, 1e-9);
  EXPECT_NEAR(late.all.peers_ms * 1e6, 20, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kKernels), 10, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kExtraKernels), 5, 1e-9);
  EXPECT_NEAR(late.remainder_ms(), 0, 1e-12);
}

// Of six ranks, rank 4 takes 10 longer for the same product, and rank 5 has a larger one that takes
// 25 longer. Each time belongs to the right part, although the inputs of rank 5 differ from those
// of rank 4 too.
TEST(LateRankParts, OnlyTheRankWithOtherShapesHasDifferingInputs) {
  constexpr std::uint32_t kRanks = 6;
  test::HandMadeRun hand(kRanks, {{ActivityKind::kCollective},
                                  {ActivityKind::kKernel, "product", "aten::mm", "", "[8]"},
                                  {ActivityKind::kKernel, "product", "aten::mm", "", "[9]"}});
  const std::vector<NodeId> first = hand.collective(std::vector<std::int64_t>(kRanks, 0), 100);
  std::vector<NodeId> last;
  std::vector<std::int64_t> arrivals;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    const std::int64_t dur = r == 4 ? 30 : r == 5 ? 45 : 20;
    last.push_back(hand.add_after(first[r], r, r == 5 ? 2 : 1, 100, dur));
    arrivals.push_back(100 + dur);
  }
  hand.collective(arrivals, 200, last);
  const JobRun run = hand.finish();
  const std::vector<std::uint32_t> ranks{4, 5};
  const std::vector<LateRankParts> late = late_rank_parts(
      run, CountedSteps(run, {}, step_ends(run, {})), PeerPlaces(run, ranks), ranks);
  EXPECT_NEAR(excess_ns(late[0], StretchPart::kKernels), 10, 1e-9);
  EXPECT_NEAR(excess_ns(late[0], StretchPart::kOtherInputs), 0, 1e-9);
  EXPECT_NEAR(excess_ns(late[1], StretchPart::kKernels), 0, 1e-9);
  EXPECT_NEAR(excess_ns(late[1], StretchPart::kOtherInputs), 25, 1e-9);
}

// Ranks 0 and 1 have a collective of their own before the next one of all ranks. Its 50 are not
// time of their kernels.
TEST(LateRankParts, ACollectiveOfOtherMembersIsNoBegin) {
  test::HandMadeRun hand(kLateRun, {{ActivityKind::kCollective}, {ActivityKind::kKernel, "usual"}});
  const std::vector<NodeId> first = hand.collective({0, 0, 0, 0}, 100);
  const std::vector<NodeId> pair = hand.collective({100, 100}, 150, {first[0], first[1]});
  std::vector<NodeId> last;
  for (std::uint32_t r = 0; r < kLateRun; ++r)
    last.push_back(r < 2 ? hand.add_after(pair[r], r, 1, 150, 20)
                         : hand.add_after(first[r], r, 1, 100, 20));
  hand.collective({170, 170, 120, 120}, 200, last);
  const JobRun run = hand.finish();
  const std::vector<std::uint32_t> ranks{0, 1};
  const LateRankParts late =
      late_rank_parts(run, CountedSteps(run, {}, step_ends(run, {})), PeerPlaces(run, ranks), ranks)
          .front();
  EXPECT_NEAR(late.all.excess_ms * 1e6, 50, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kKernels), 0, 1e-9);
  EXPECT_NEAR(excess_ns(late, StretchPart::kOtherGroups), 50, 1e-9);
}

TEST(LateRankParts, APeerIsNotLate) {
  const LateRankParts peer = parts_of_rank(1);
  EXPECT_NEAR(peer.all.excess_ms, 0, 1e-12);
  for (std::size_t part = 0; part < kStretchParts; ++part)
    EXPECT_NEAR(peer.parts[part].excess_ms, 0, 1e-12) << part;
}

} // namespace
} // namespace rankscope
