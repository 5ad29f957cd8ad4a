// Tests the steady state and the windows of serving steps with hand-calculated values.
#include "analyses/inference/step_windows.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

StepCounts step(std::int64_t prefill, std::int64_t decode) {
  StepCounts s;
  s.context_requests = prefill;
  s.generation_requests = decode;
  return s;
}

/// Returns 40 steps of 64 requests; steps 10, 11, 12 and 30 have prefill.
std::vector<StepCounts> forty() {
  std::vector<StepCounts> out;
  for (int i = 0; i < 40; ++i)
    out.push_back((i >= 10 && i <= 12) || i == 30 ? step(4, 60) : step(0, 64));
  return out;
}

WindowOptions options(std::size_t steps, bool compat) {
  WindowOptions out;
  out.steps = steps;
  out.compat = compat;
  return out;
}

// Step 5 is the sixth step near the maximum, so the region starts at 0. The reference leaves out
// the last step: the share of prefill is 4 / 39 = 0.103. The windows of 32 steps from 0, 3 and 6
// have 4 / 32 = 0.125 each, so the first one is used.
TEST(StepWindows, TheExampleOfFortySteps) {
  const SteadyWindows w = steady_windows(forty(), options(32, true));
  EXPECT_EQ(w.region, (StepRange{0, 39}));
  EXPECT_NEAR(w.reference, 4.0 / 39, 1e-12);
  EXPECT_EQ(w.mixed, (StepRange{0, 32}));
  EXPECT_EQ(w.decode, (StepRange{13, 30}));
  EXPECT_EQ(w.prefill_mix, (StepRange{10, 13}));
  const SteadyWindows all_steps = steady_windows(forty(), options(32, false));
  EXPECT_EQ(all_steps.region, (StepRange{0, 40})); // with the last step
  EXPECT_NEAR(all_steps.reference, 0.1, 1e-12);
}

// Requests per step: 8 x 10, 8 x 1, then 9 x 10. The maximum is 10, and a near step differs by at
// most 2 (fewer steps than 32). The counter of near steps is 6 at step 5, which is its maximum.
// Each step that is not near subtracts one: after six of them, at step 13, the region ends.
TEST(StepWindows, ARegionClosesWhenAsManyStepsFellOut) {
  std::vector<StepCounts> steps(8, step(0, 10));
  steps.insert(steps.end(), 8, step(0, 1));
  steps.insert(steps.end(), 9, step(1, 9));
  const auto regions = steady_regions(steps, 32, false);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0], (StepRange{0, 13}));
  EXPECT_EQ(regions[1], (StepRange{16, 25})); // the sixth near step is 21: begins at 21 - 6 + 1
  const SteadyWindows w = steady_windows(steps, options(4, false));
  EXPECT_EQ(w.region, (StepRange{0, 13})); // the longest
  EXPECT_EQ(w.decode, (StepRange{0, 4}));
  EXPECT_FALSE(w.prefill_mix); // the region has no step with prefill
  EXPECT_NEAR(w.reference, 9.0 / 22, 1e-12);
}

// Five near steps do not open a region: the middle of the trace is used. With 12 steps and window
// 32, min(12, 20) / 2 = 6 steps are cut at each end.
TEST(StepWindows, WithoutASteadyStateTheMiddle) {
  std::vector<StepCounts> steps(7, step(0, 1));
  steps.insert(steps.end(), 5, step(0, 100));
  EXPECT_EQ(steady_regions(steps, 32, false), (std::vector<StepRange>{{6, 7}}));
  // window 8: min(12, 8) / 2 = 4 steps are cut at each end
  EXPECT_EQ(steady_regions(steps, 8, false), (std::vector<StepRange>{{4, 8}}));
  EXPECT_EQ(steady_regions({step(0, 1)}, 32, false), (std::vector<StepRange>{{0, 1}}));
  EXPECT_TRUE(steady_regions({}, 32, false).empty());
}

// 2 C / (L (1 + R)) = 2 * 8 / (64 * 2) = 0.125: one step in eight, so a window has at least eight
// steps.
TEST(StepWindows, TheLoadSaysTheShareOfPrefill) {
  WindowOptions o = options(4, false);
  o.concurrency = 8;
  o.output_tokens = 64;
  o.length_ratio = 1.0;
  const SteadyWindows w = steady_windows(forty(), o);
  EXPECT_DOUBLE_EQ(w.reference, 0.125);
  ASSERT_TRUE(w.mixed);
  EXPECT_EQ(w.mixed->size(), 8U);
  // windows start at 0, 2, 4, ...; the first with exactly one step of prefill contains step 12, but
  // not 10 and 11
  EXPECT_EQ(*w.mixed, (StepRange{12, 20}));
}

class Choice : public ::testing::Test {
protected:
  std::vector<AnnotatedStep> steps_ = [] {
    std::vector<AnnotatedStep> out;
    for (const StepCounts& s : {step(2, 0), step(1, 5), step(0, 6), step(0, 6), step(0, 0)})
      out.push_back({static_cast<EventId>(out.size()), 0, 0, s});
    return out;
  }();
  std::vector<std::size_t> places(std::optional<StepPhase> phase, const char* iterations) {
    StepChoice c;
    c.phase = phase;
    c.iterations = iterations;
    auto chosen = choose_steps(steps_, c);
    return chosen ? *chosen : std::vector<std::size_t>();
  }
  using Places = std::vector<std::size_t>;
};

TEST_F(Choice, OfPhasesAndPlaces) {
  EXPECT_EQ(places(StepPhase::kPrefill, ""), Places{0});
  EXPECT_EQ(places(StepPhase::kMixed, ""), Places{1});
  EXPECT_EQ(places(StepPhase::kDecode, "all"), (Places{2, 3}));
  EXPECT_EQ(places(StepPhase::kDecode, "3:99"), Places{3}); // limited to the number of steps
  EXPECT_EQ(places({}, "1:3"), (Places{1, 2}));
  EXPECT_EQ(places({}, "4"), Places{4});
  for (const char* bad : {"5", "3:3", "4:2", "a", "1:", ":2", "-1", "1:2:3"})
    EXPECT_TRUE(places({}, bad).empty()) << bad;
  EXPECT_TRUE(places(StepPhase::kPrefill, "1:3").empty()); // no prefill step in 1:3
  EXPECT_FALSE(choose_steps({}, {}));
}

} // namespace
} // namespace rankscope
