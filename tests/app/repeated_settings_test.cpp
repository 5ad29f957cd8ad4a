// Tests the metric values of settings that ran several times.
#include "app/repeated_settings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

// A run with five steps and a run without steps have only the time of the complete trace in common.
TEST(RepeatedSettings, FiguresAreOfStepsWhereEachRunHasSteps) {
  const auto configuration = [](const char* value) {
    Configuration out;
    out.label = std::string("x=") + value;
    out.parameters = {{"x", value}};
    return out;
  };
  const auto record = [&](const char* value, int steps) {
    RankRecord out;
    out.key.configuration = configuration(value);
    constexpr auto kTotal = static_cast<std::size_t>(TimeKind::kTotal);
    out.time_ns[kTotal] = 40'000'000;
    for (int s = 0; s < steps; ++s) {
      StepTimes step;
      step.step = s;
      step.ns[kTotal] = 7'000'000;
      out.steps.push_back(step);
    }
    return out;
  };
  std::vector<SweepSetting> settings(2);
  for (std::size_t i = 0; i < 2; ++i) {
    settings[i].configuration = configuration(i == 0 ? "1" : "2");
    settings[i].folder = settings[i].configuration.label;
  }
  const RepeatedMetrics steps = repeated_settings({record("1", 5), record("2", 5)}, settings);
  EXPECT_STREQ(steps.unit, "ms per step");
  EXPECT_DOUBLE_EQ(steps.settings.at(0).runs.at(1), 7);
  const RepeatedMetrics mixed = repeated_settings({record("1", 5), record("2", 0)}, settings);
  EXPECT_STREQ(mixed.unit, "ms per trace");
  EXPECT_DOUBLE_EQ(mixed.settings.at(0).runs.at(1), 40);
  EXPECT_DOUBLE_EQ(mixed.settings.at(1).runs.at(1), 40);
  EXPECT_TRUE(steps.same_work);
  // ST-0.8: twice the rows are different work, so the step times are not compared
  std::vector<RankRecord> work{record("1", 5), record("2", 5)};
  for (std::uint64_t shape = 0; shape < 2; ++shape)
    work[shape].calls.push_back({shape, true, {CallBlock{5, 100, 0, 0, 0.25, 0, 5, 100, 0.25}}});
  EXPECT_FALSE(repeated_settings(work, settings).same_work);
  work[1].calls[0].key = 0;
  EXPECT_TRUE(repeated_settings(work, settings).same_work);
}

} // namespace
} // namespace rankscope
