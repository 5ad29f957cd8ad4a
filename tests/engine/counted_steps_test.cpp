// Which steps near the begin and the end of a recording are left out, worked by hand.
#include "analyses/job/counted_steps.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kStepNs = 100, kPauseNs = 400;

enum class Pause : std::uint8_t { kNothing, kHostWork };

/// Two ranks. In each step both run for 60, arrive at a collective and leave it at 100. In one step
/// rank 1 begins 400 later, with or without an activity meanwhile.
class PausedRun {
public:
  PausedRun(std::size_t steps, std::size_t paused, Pause pause) : run_() {
    for (std::int64_t r = 0; r < 2; ++r) {
      RankGraph& rank = run_.ranks.emplace_back();
      rank.rank = r;
      rank.lines.push_back({true, 7, 0});
      for (const ActivityKind kind :
           {ActivityKind::kKernel, ActivityKind::kCollective, ActivityKind::kHost})
        rank.activities.push_back({kind});
    }
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < steps; ++k) {
      run_.step_numbers.push_back(20 + static_cast<std::int64_t>(k));
      for (RankGraph& rank : run_.ranks)
        rank.steps.push_back(run_.step_numbers.back());
      const std::int64_t late = k == paused ? kPauseNs : 0;
      add(0, 0, begin, 60, NodeRole::kActivity);
      if (late > 0 && pause == Pause::kHostWork)
        add(1, 2, begin, late, NodeRole::kActivity);
      add(1, 0, begin + late, 60, NodeRole::kActivity);
      begin += late + kStepNs;
      std::vector<JobRunBuilder::Member> members;
      for (std::uint32_t r = 0; r < 2; ++r) {
        const std::int64_t start = begin - 40 - (r == 0 ? late : 0);
        members.push_back({add(r, 1, start, begin - start, NodeRole::kArrival), start, begin});
      }
      run_.collectives.push_back({0, builder_.transfer(members, 1)});
    }
    builder_.finish(run_, Trust::kTimes);
    for (JobCollective& of : run_.collectives)
      for (NodeId& transfer : of.transfers)
        transfer = builder_.numbers()[transfer];
  }
  [[nodiscard]] CountedSteps counted() const { return {run_, critical_path(run_.graph)}; }
  [[nodiscard]] const JobRun& run() const { return run_; }

private:
  NodeId add(std::uint32_t rank, std::uint32_t activity, std::int64_t start, std::int64_t dur,
             NodeRole role) {
    RankGraph& to = run_.ranks[rank];
    to.nodes.push_back({start, dur, activity, 0, static_cast<std::int32_t>(to.steps.size()) - 1});
    return builder_.add(rank, static_cast<NodeId>(to.nodes.size() - 1), start,
                        role == NodeRole::kArrival ? 0 : dur, role);
  }
  JobRun run_;
  JobRunBuilder builder_;
};

TEST(CountedSteps, AStepThatWaitsForALateRecordingIsLeftOut) {
  for (const std::size_t paused : {std::size_t{0}, std::size_t{2}}) {
    const PausedRun run(10, paused, Pause::kNothing);
    const CountedSteps counted = run.counted();
    ASSERT_EQ(counted.boundary().size(), 1U) << paused;
    const BoundaryStep& step = counted.boundary().front();
    EXPECT_EQ(step.number, 20 + static_cast<std::int64_t>(paused));
    EXPECT_EQ(step.rank, 1);
    EXPECT_NEAR(step.excess_ms * 1e6, kPauseNs, 1e-9);
    EXPECT_NEAR(step.wait_ms * 1e6, kPauseNs, 1e-9);
    EXPECT_EQ(counted.first(), paused + 1);
    EXPECT_NEAR(counted.mean_ms(step_ends(run.run(), {})) * 1e6, kStepNs, 1e-9);
  }
}

TEST(CountedSteps, OneOfTheLastFourEndsTheCountedSteps) {
  const PausedRun run(10, 7, Pause::kNothing);
  const CountedSteps counted = run.counted();
  EXPECT_EQ(counted.counted(), 6U); // 1 to 6
  EXPECT_TRUE(counted.counts(6));
  EXPECT_FALSE(counted.counts(7));
  EXPECT_FALSE(counted.counts(9));
  const std::vector<std::int64_t> ends = step_ends(run.run(), {});
  EXPECT_NEAR(counted.mean_ms(ends) * 1e6, kStepNs, 1e-9);
  EXPECT_EQ(counted.each_ms(ends).size(), 6U);
  std::int64_t path = 0;
  for (const PathPiece& piece : counted.part_of(critical_path(run.run().graph), ends))
    path += piece.end_ns - piece.begin_ns;
  EXPECT_EQ(path, 6 * kStepNs);
}

TEST(CountedSteps, HostWorkInTheMiddleAndFewStepsAreNoBoundary) {
  EXPECT_TRUE(PausedRun(10, 2, Pause::kHostWork).counted().boundary().empty());
  EXPECT_TRUE(PausedRun(10, 5, Pause::kNothing).counted().boundary().empty());
  EXPECT_TRUE(PausedRun(7, 2, Pause::kNothing).counted().boundary().empty());
}

} // namespace
} // namespace rankscope
