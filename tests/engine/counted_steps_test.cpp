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

} // namespace
} // namespace rankscope
