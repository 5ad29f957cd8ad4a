// The critical path as parts of single ranks, worked by hand.
#include "analyses/job/path_rows.h"
#include "engine/hand_made_run.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Both ranks leave a collective at 100. Rank 1 runs two kernels until 160, rank 0 one until 130.
/// The next collective ends at 200.
JobRun two_ranks() {
  test::HandMadeRun hand(2, {{ActivityKind::kCollective, "all_reduce"},
                             {ActivityKind::kKernel, "short"},
                             {ActivityKind::kKernel, "long"}});
  const std::vector<NodeId> first = hand.collective({0, 0}, 100);
  std::vector<NodeId> last{hand.add_after(first[0], 0, 1, 100, 30),
                           hand.add_after(first[1], 1, 1, 100, 20)};
  last[1] = hand.add_after(last[1], 1, 2, 120, 40);
  hand.collective({130, 160}, 200, last);
  return hand.finish();
}

TEST(PathParts, FollowTheRankThatTheOthersWaitFor) {
  const JobRun run = two_ranks();
  const std::vector<PathPart> parts = path_parts(run);
  std::int64_t sum = 0;
  for (const PathPart& part : parts)
    sum += part.end_ns - part.begin_ns;
  EXPECT_EQ(sum, run.graph.makespan_ns());
  const auto kernel = std::ranges::find(parts, "long", &PathPart::what);
  ASSERT_NE(kernel, parts.end());
  EXPECT_EQ(kernel->rank, 1);
  EXPECT_EQ(kernel->begin_ns, 120);
  EXPECT_EQ(kernel->end_ns, 160);
  EXPECT_EQ((kernel - 1)->what, "short");
  EXPECT_EQ((kernel - 1)->rank, 1);
}

TEST(PathParts, ShortPiecesOfARankAreJoined) {
  const JobRun run = two_ranks();
  const std::vector<PathPart> parts = path_parts(run, 50);
  std::int64_t sum = 0;
  for (const PathPart& part : parts)
    sum += part.end_ns - part.begin_ns;
  EXPECT_EQ(sum, run.graph.makespan_ns());
  const auto kernels = std::ranges::find(parts, "long", &PathPart::what);
  ASSERT_NE(kernels, parts.end());
  EXPECT_EQ(kernels->begin_ns, 100);
  EXPECT_EQ(kernels->end_ns, 160);
  EXPECT_EQ(std::ranges::find(parts, "short", &PathPart::what), parts.end());
}

} // namespace
} // namespace rankscope
