// Tests exposed communication with hand-calculated values.
#include "analyses/job/exposed.h"
#include "engine/hand_made_run.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

test::HandMadeRun collective_run(std::size_t ranks) {
  return {ranks, {{ActivityKind::kKernel}, {ActivityKind::kCollective}}};
}

ExposedTime exposed_of(test::HandMadeRun& hand) {
  const JobRun run = hand.finish();
  return exposed_time(run, CountedSteps(run, {}, step_ends(run, {})));
}

constexpr double kNsAsMs = 1e-6;

TEST(ExposedTime, IsWaitingUntilTheLastArrivesAndTransferFromThenOn) {
  test::HandMadeRun run = collective_run(2);
  run.add(0, 0, 20, 10); // overlaps the collective
  run.collective({10, 40}, 50);
  const ExposedTime exposed = exposed_of(run);
  // rank 0 waits from 10 to 40, except from 20 to 30; rank 1 does not wait; both transfer for 10
  EXPECT_NEAR(exposed.wait_ms, 20 * kNsAsMs / 2, 1e-12);
  EXPECT_NEAR(exposed.transfer_ms, 20 * kNsAsMs / 2, 1e-12);
  EXPECT_EQ(exposed.unmatched_ms, 0);
  ASSERT_EQ(exposed.wait_for.size(), 1U);
  EXPECT_EQ(exposed.wait_for[0].rank, 1);
  EXPECT_NEAR(exposed.wait_for[0].ms, exposed.wait_ms, 1e-12);
}

// One of two equal ranks begins its recording later, for a reason that the trace does not show.
TEST(ExposedTime, ShowsWhatTheBeginOfTheRecordingExplains) {
  for (const auto& [later, explained] : {std::pair(70, 70), std::pair(20, 20), std::pair(90, 75)}) {
    SCOPED_TRACE(later);
    test::HandMadeRun run = collective_run(2);
    run.begin_step(1, {0, later});
    run.collective({30, 105}, 110); // 75 later
    run.collective({120, 130}, 140);
    const ExposedTime exposed = exposed_of(run);
    ASSERT_EQ(exposed.wait_for.size(), 1U);
    EXPECT_EQ(exposed.wait_for[0].rank, 1);
    EXPECT_NEAR(exposed.wait_for[0].ms, 85 * kNsAsMs / 2, 1e-12);
    EXPECT_NEAR(exposed.wait_for[0].start_ms, explained * kNsAsMs / 2, 1e-12);
  }
}

// The missing member may arrive at any time before the end.
TEST(ExposedTime, IsNoTransferIfAMemberIsMissing) {
  test::HandMadeRun run = collective_run(2);
  run.collective({10, 40}, 50, {}, false);
  const ExposedTime exposed = exposed_of(run);
  EXPECT_NEAR(exposed.wait_ms, 30 * kNsAsMs / 2, 1e-12);
  EXPECT_EQ(exposed.transfer_ms, 0);
  EXPECT_NEAR(exposed.unmatched_ms, 20 * kNsAsMs / 2, 1e-12);
}

TEST(ExposedTime, OverlappingCollectivesOfARankCountOnce) {
  test::HandMadeRun run = collective_run(1);
  run.alone(0, 0, 100);
  run.alone(0, 50, 100);
  const ExposedTime exposed = exposed_of(run);
  EXPECT_NEAR(exposed.unmatched_ms, 150 * kNsAsMs, 1e-12);
  EXPECT_EQ(exposed.wait_ms, 0);
  EXPECT_EQ(exposed.transfer_ms, 0);
  EXPECT_TRUE(exposed.wait_for.empty());
}

TEST(ExposedTime, WhatAKernelHidesIsNotExposed) {
  test::HandMadeRun run = collective_run(2);
  run.add(0, 0, 0, 200);
  run.add(1, 0, 0, 200);
  run.collective({10, 40}, 50);
  EXPECT_EQ(exposed_of(run).total_ms(), 0);
}

} // namespace
} // namespace rankscope
