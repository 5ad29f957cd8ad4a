// Steady state and windows of serving steps, worked by hand.
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

/// 40 steps of 64 requests; 10, 11, 12 and 30 have prefill.
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

// the sixth near step is 5, so the region opens at 0; the reference leaves the last step out.
// share of prefill 4 / 39 = 0.103; windows of 32 from 0, 3, 6 have 4 / 32 = 0.125 each: the first.
TEST(StepWindows, TheExampleOfFortySteps) {
  const SteadyWindows w = steady_windows(forty(), options(32, true));
  EXPECT_EQ(w.region, (StepRange{0, 39}));
  EXPECT_NEAR(w.reference, 4.0 / 39, 1e-12);
  EXPECT_EQ(w.mixed, (StepRange{0, 32}));
  EXPECT_EQ(w.decode, (StepRange{13, 30}));
  EXPECT_EQ(w.prefill_mix, (StepRange{10, 13}));
  const SteadyWindows own = steady_windows(forty(), options(32, false));
  EXPECT_EQ(own.region, (StepRange{0, 40})); // with the last step
  EXPECT_NEAR(own.reference, 0.1, 1e-12);
}

// r = 10 10 10 10 10 10 10 10 | 1 1 1 1 1 1 1 1 | 10...: M 10, allowed 2 (fewer steps than 32).
// k is 6 at step 5 and stays; each far step takes one: after six of them, at step 13, it closes.
TEST(StepWindows, ARegionClosesWhenAsManyStepsFellOut) {
  std::vector<StepCounts> steps(8, step(0, 10));
  steps.insert(steps.end(), 8, step(0, 1));
  steps.insert(steps.end(), 9, step(1, 9));
  const auto regions = steady_regions(steps, 32, false);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0], (StepRange{0, 13}));
  EXPECT_EQ(regions[1], (StepRange{16, 25})); // sixth near one is 21: 21 - 6 + 1
  const SteadyWindows w = steady_windows(steps, options(4, false));
  EXPECT_EQ(w.region, (StepRange{0, 13})); // the longest
  EXPECT_EQ(w.decode, (StepRange{0, 4}));
  EXPECT_FALSE(w.prefill_mix); // none in it
  EXPECT_NEAR(w.reference, 9.0 / 22, 1e-12);
}

// five near steps open nothing: the middle of the trace. n 12, window 32: d = min(12, 20) = 12
TEST(StepWindows, WithoutASteadyStateTheMiddle) {
  std::vector<StepCounts> steps(7, step(0, 1));
  steps.insert(steps.end(), 5, step(0, 100));
  EXPECT_EQ(steady_regions(steps, 32, false), (std::vector<StepRange>{{6, 7}}));
  // window 8: d = min(12, 8) = 8
  EXPECT_EQ(steady_regions(steps, 8, false), (std::vector<StepRange>{{4, 8}}));
  EXPECT_EQ(steady_regions({step(0, 1)}, 32, false), (std::vector<StepRange>{{0, 1}}));
  EXPECT_TRUE(steady_regions({}, 32, false).empty());
}

// 2 C / (L (1 + R)) = 2 * 8 / (64 * 2) = 0.125: one step in eight, so a window has eight at least
TEST(StepWindows, TheLoadSaysTheShareOfPrefill) {
  WindowOptions o = options(4, false);
  o.concurrency = 8;
  o.output_tokens = 64;
  o.length_ratio = 1.0;
  const SteadyWindows w = steady_windows(forty(), o);
  EXPECT_DOUBLE_EQ(w.reference, 0.125);
  ASSERT_TRUE(w.mixed);
  EXPECT_EQ(w.mixed->size(), 8U);
  // from 0, 2, 4, ...: the first with one step of prefill in it has 12 and not 10, 11
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
  EXPECT_EQ(places(StepPhase::kDecode, "3:99"), Places{3}); // clipped
  EXPECT_EQ(places({}, "1:3"), (Places{1, 2}));
  EXPECT_EQ(places({}, "4"), Places{4});
  for (const char* bad : {"5", "3:3", "4:2", "a", "1:", ":2", "-1", "1:2:3"})
    EXPECT_TRUE(places({}, bad).empty()) << bad;
  EXPECT_TRUE(places(StepPhase::kPrefill, "1:3").empty()); // none is left
  EXPECT_FALSE(choose_steps({}, {}));
}

} // namespace
} // namespace rankscope
