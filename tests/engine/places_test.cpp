// Tests the prediction of a step from the one before, with expected values calculated by hand.
#include "analyses/job/places.h"
#include "engine/hand_made_run.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns the error for a rank that runs its kernels one after another. `steps`: the duration of
/// each kernel, by step.
std::optional<double> prediction_error(const std::vector<std::vector<std::int64_t>>& steps) {
  test::HandMadeRun hand(1, {{ActivityKind::kKernel, "gemm"}});
  std::int64_t now = 0;
  NodeId last = kNoNode;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    hand.begin_step(static_cast<std::int64_t>(step));
    for (const std::int64_t dur : steps[step]) {
      last = last == kNoNode ? hand.add(0, 0, now, dur) : hand.add_after(last, 0, 0, now, dur);
      now += dur;
    }
  }
  const JobRun run = hand.finish();
  return prediction_error_percent(run, test::counted_steps(run),
                                  PlaceNodes(places_of(run, PlaceIn::kAnyStep)));
}

TEST(PredictionError, ComparesAStepWithTheOneBefore) {
  // 1250 is predicted as 1000, and 1000 as 1250
  const auto error = prediction_error({{900}, {600, 400}, {600, 650}, {600, 400}});
  ASSERT_TRUE(error);
  EXPECT_NEAR(*error, 100 * (0.2 + 0.25) / 2, 1e-9);
}

// Activities that the step before lacks would keep their own durations.
TEST(PredictionError, IsUnknownIfAStepHasOtherWorkThanTheOneBefore) {
  EXPECT_FALSE(prediction_error({{500}, {500}, {500, 500, 500, 500}, {500}}));
  EXPECT_TRUE(prediction_error({{500}, {500, 20}, {500}, {500, 20}})); // 4 %
}

} // namespace
} // namespace rankscope
