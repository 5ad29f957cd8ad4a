// Tests which steps near the beginning and the end of a recording are left out, with
// hand-calculated values.
#include "analyses/job/counted_steps.h"
#include "engine/hand_made_run.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kStepNs = 100, kPauseNs = 400;

enum class Pause : std::uint8_t { kNothing, kHostWork };

/// Returns a run of two ranks. In each step, both ranks run for 60, enter a collective, and leave
/// it at 100. In the step `paused`, rank 1 starts 400 later, with or without an activity before.
JobRun paused_run(std::size_t steps, std::size_t paused, Pause pause) {
  test::HandMadeRun hand(
      2, {{ActivityKind::kKernel}, {ActivityKind::kCollective}, {ActivityKind::kHost}});
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    hand.begin_step(20 + static_cast<std::int64_t>(k));
    const std::int64_t late = k == paused ? kPauseNs : 0;
    hand.add(0, 0, begin, 60);
    if (late > 0 && pause == Pause::kHostWork)
      hand.add(1, 2, begin, late);
    hand.add(1, 0, begin + late, 60);
    hand.collective({begin + 60, begin + late + 60}, begin + late + kStepNs);
    begin += late + kStepNs;
  }
  return hand.finish();
}

bool has_boundary(const JobRun& run) {
  return !test::counted_steps(run).boundary().empty();
}

TEST(CountedSteps, AStepThatWaitsForALateRecordingIsLeftOut) {
  for (const std::size_t paused : {std::size_t{0}, std::size_t{2}}) {
    const JobRun run = paused_run(10, paused, Pause::kNothing);
    const CountedSteps counted = test::counted_steps(run);
    ASSERT_EQ(counted.boundary().size(), 1U) << paused;
    const BoundaryStep& step = counted.boundary().front();
    EXPECT_EQ(step.number, 20 + static_cast<std::int64_t>(paused));
    EXPECT_EQ(step.rank, 1);
    EXPECT_NEAR(step.excess_ms * 1e6, kPauseNs, 1e-9);
    EXPECT_NEAR(step.wait_ms * 1e6, kPauseNs, 1e-9);
    EXPECT_EQ(counted.first(), paused + 1);
    EXPECT_NEAR(counted.mean_ms(step_ends(run, {})) * 1e6, kStepNs, 1e-9);
  }
}

TEST(CountedSteps, OneOfTheLastFourEndsTheCountedSteps) {
  const JobRun run = paused_run(10, 7, Pause::kNothing);
  const CountedSteps counted = test::counted_steps(run);
  EXPECT_EQ(counted.counted(), 6U); // steps 1 to 6
  EXPECT_TRUE(counted.counts(6));
  EXPECT_FALSE(counted.counts(7));
  EXPECT_FALSE(counted.counts(9));
  const std::vector<std::int64_t> ends = step_ends(run, {});
  EXPECT_NEAR(counted.mean_ms(ends) * 1e6, kStepNs, 1e-9);
  EXPECT_EQ(counted.each_ms(ends).size(), 6U);
  std::int64_t path = 0;
  for (const PathPiece& piece : counted.part_of(critical_path(run.graph), ends))
    path += piece.end_ns - piece.begin_ns;
  EXPECT_EQ(path, 6 * kStepNs);
}

TEST(CountedSteps, HostWorkInTheMiddleAndFewStepsAreNoBoundary) {
  EXPECT_FALSE(has_boundary(paused_run(10, 2, Pause::kHostWork)));
  EXPECT_FALSE(has_boundary(paused_run(10, 5, Pause::kNothing)));
  EXPECT_FALSE(has_boundary(paused_run(7, 2, Pause::kNothing)));
}

/// A rank that works for 90 of 100 in each step. One step may have no annotation.
struct RecordedSteps {
  std::int64_t first = 0, last = 0, unmarked = 0;

  [[nodiscard]] RankGraph graph() const {
    RankGraph out;
    out.lines.push_back({true, 7, 0});
    out.activities.push_back({ActivityKind::kKernel});
    for (std::int64_t number = first; number <= last; ++number) {
      if (number != unmarked)
        out.steps.push_back(number);
      const auto n = static_cast<NodeId>(out.nodes.size());
      out.nodes.push_back({number * kStepNs, 90, 0, 0});
      out.step_of.push_back(static_cast<std::int32_t>(out.steps.size()) - 1);
      if (n > 0)
        out.waits.emplace_back(n, Wait(n - 1, WaitKind::kStream, 10));
    }
    return out;
  }
};
JobRun run_of_two(const RecordedSteps& a, const RecordedSteps& b) {
  std::vector<RankGraph> ranks;
  ranks.push_back(a.graph());
  ranks.push_back(b.graph());
  return join_ranks(std::move(ranks), nullptr);
}

TEST(CountedSteps, AStepThatOneRankLacksIsNoPartOfAnother) {
  struct Case {
    RecordedSteps a, b;
    std::vector<std::int64_t> steps; ///< the first one does not count
  };
  for (const Case& example : {Case{{1, 5}, {1, 5}, {1, 2, 3, 4, 5}},
                              {{1, 5}, {1, 4}, {1, 2, 3, 4}},
                              {{1, 4}, {1, 7}, {1, 2, 3, 4}},
                              {{1, 5}, {2, 5}, {2, 3, 4, 5}},
                              {{1, 4}, {3, 6}, {3, 4}},
                              {{1, 7}, {1, 7, 3}, {4, 5, 6, 7}},
                              {{1, 7, 6}, {1, 7}, {1, 2, 3, 4}},
                              {{1, 2}, {2, 3}, {1, 2}}}) { // the only step of both counts
    const JobRun run = run_of_two(example.a, example.b);
    EXPECT_EQ(run.step_numbers, example.steps);
    const CountedSteps counted = test::counted_steps(run);
    const std::vector<std::int64_t> ends = step_ends(run, {});
    EXPECT_EQ(counted.counted(), example.steps.size() - 1);
    EXPECT_NEAR(counted.mean_ms(ends) * 1e6, kStepNs, 1e-9) << example.steps.back();
    for (const double ms : counted.each_ms(ends))
      EXPECT_NEAR(ms * 1e6, kStepNs, 1e-9) << example.steps.back();
    std::size_t nodes = 0;
    for (NodeId n = 0; n < run.graph.size(); ++n)
      nodes += counted.counts(run.step_of(n)) ? 1 : 0;
    EXPECT_EQ(nodes, 2 * counted.counted()) << example.steps.back();
  }
  const JobRun one = run_of_two({1, 2}, {1, 1});
  EXPECT_NEAR(test::counted_steps(one).mean_ms(step_ends(one, {})) * 1e6, 90, 1e-9);
}

/// Returns a run of two ranks. In step k, each rank has kernels of 100 one after the other:
/// `kernels`[k] on rank 0, and `fewer` less on rank 1 in the last step.
JobRun run_of(const std::vector<std::size_t>& kernels, std::size_t fewer = 0) {
  test::HandMadeRun hand(2, {{ActivityKind::kKernel}});
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    hand.begin_step(20 + static_cast<std::int64_t>(k));
    const std::size_t less = k + 1 == kernels.size() ? fewer : 0;
    for (std::size_t n = 0; n < kernels[k]; ++n)
      for (const std::uint32_t rank : {0U, 1U})
        if (rank == 0 || n + less < kernels[k])
          hand.add(rank, 0, begin + static_cast<std::int64_t>(n) * kStepNs, kStepNs);
    begin += static_cast<std::int64_t>(kernels[k]) * kStepNs;
  }
  return hand.finish();
}

TEST(CountedSteps, ALastStepWithLessGpuWorkIsLeftOut) {
  for (const std::size_t complete : {3U, 4U, 9U}) {
    std::vector<std::size_t> kernels(complete, 10);
    kernels.push_back(5);
    const JobRun run = run_of(kernels, 2);
    CountedSteps counted = test::counted_steps(run);
    ASSERT_EQ(counted.boundary().size(), 1U) << complete;
    const BoundaryStep& step = counted.boundary().front();
    EXPECT_TRUE(step.incomplete());
    EXPECT_EQ(step.number, 20 + static_cast<std::int64_t>(complete));
    EXPECT_EQ(step.rank, 1);
    EXPECT_EQ(step.activities, 3U);
    EXPECT_EQ(step.other_activities, 10U);
    EXPECT_NEAR(step.excess_ms * 1e6, -5 * kStepNs, 1e-9);
    EXPECT_EQ(counted.counted(), complete - 1);
    EXPECT_FALSE(counted.counts(complete));
    EXPECT_NEAR(counted.mean_ms(step_ends(run, {})) * 1e6, 10 * kStepNs, 1e-9);
    counted.only({complete, complete});
    EXPECT_TRUE(counted.boundary().empty()); // it counts
  }
}

TEST(CountedSteps, AFirstStepWithLessGpuWorkIsNamed) {
  const CountedSteps counted = test::counted_steps(run_of({4, 10, 10, 10, 10}));
  ASSERT_EQ(counted.boundary().size(), 1U);
  EXPECT_EQ(counted.boundary().front().number, 20);
  EXPECT_EQ(counted.counted(), 4U);
  // both ends of the recording; the first step is not compared with the last one
  EXPECT_EQ(test::counted_steps(run_of({4, 10, 10, 10, 6})).boundary().size(), 2U);
}

TEST(CountedSteps, StepsThatMayBeCompleteCount) {
  EXPECT_FALSE(has_boundary(run_of({10, 10, 5})));             // two others
  EXPECT_FALSE(has_boundary(run_of({20, 20, 20, 20, 19})));    // hardly less work
  EXPECT_FALSE(has_boundary(run_of({10, 5, 10, 5, 10, 5})));   // as another step
  EXPECT_FALSE(has_boundary(run_of({10, 10, 5, 10, 10})));     // in the middle
  EXPECT_FALSE(has_boundary(run_of({10, 10, 10, 10, 10}, 3))); // as long as the others
}

} // namespace
} // namespace rankscope
