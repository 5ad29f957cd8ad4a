// Tests joining power samples with the steps of a trace.
#include "app/step_energy.h"

#include "trace_builder.h"

namespace rankscope {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Returns samples of GPU 3: 100 W at 10 s, then 10 W more each second, up to 150 W at 15 s.
SampledPower ramp() {
  SampledPower out;
  for (int i = 0; i <= 5; ++i)
    out.gpus[3].push_back({(10 + i) * kSecond, 100.0 + 10 * i});
  out.longest_gap_ns = 2 * kSecond;
  out.gpu_of_device = {{0, 3}};
  return out;
}

TracedSteps steps_at(StepClock clock, std::int64_t offset_ns) {
  TracedSteps out;
  out.trace = "t.json";
  out.rank = 7;
  out.devices = {0};
  out.clock = clock;
  // a step from 10.5 s to 12.5 s, and a step from 14.5 s to 15.5 s whose second half has no samples
  out.steps = {{4, 10 * kSecond + kSecond / 2 + offset_ns, 12 * kSecond + kSecond / 2 + offset_ns},
               {5, 14 * kSecond + kSecond / 2 + offset_ns, 15 * kSecond + kSecond / 2 + offset_ns}};
  return out;
}

TEST(RunStepEnergy, ByHand) {
  // from 105 W to 125 W in 2 s: 2 x 115 = 230 J; the samples at 11 s and 12 s are in the step
  const auto rows = step_energy(steps_at(StepClock::kUnix, 0), ramp());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].rank, 7);
  EXPECT_EQ(rows[0].gpu, 3);
  EXPECT_EQ(rows[0].step, 4);
  EXPECT_DOUBLE_EQ(rows[0].duration_ms, 2000);
  EXPECT_DOUBLE_EQ(rows[0].joules.value(), 230);
  EXPECT_DOUBLE_EQ(rows[0].mean_w.value(), 115);
  EXPECT_EQ(rows[0].samples, 2);
  EXPECT_FALSE(rows[1].joules.has_value());
  EXPECT_FALSE(rows[1].mean_w.has_value());
  EXPECT_EQ(rows[1].samples, 1);
  const Table table = step_energy_schema().table(rows);
  EXPECT_EQ(table.at(0, "joules").number(), 230);
  EXPECT_TRUE(table.at(1, "joules").is_null());
}

// HA-B1: without an energy counter, a step has a range of energy but no value if power swings
// between samples.
TEST(RunStepEnergy, AnAliasedStepHasItsRangeAlone) {
  SampledPower power = ramp();
  for (std::size_t i = 0; i < power.gpus[3].size(); ++i)
    power.gpus[3][i].watts = i % 2 == 0 ? 50 : 650;
  auto rows = step_energy(steps_at(StepClock::kUnix, 0), power);
  EXPECT_FALSE(rows.at(0).joules.has_value());
  EXPECT_FALSE(rows.at(0).mean_w.has_value());
  EXPECT_STREQ(rows[0].source, "aliased");
  EXPECT_NEAR(rows[0].joules_low.value(), 100, 1e-9);
  EXPECT_NEAR(rows[0].joules_high.value(), 1300, 1e-9);
  for (std::size_t i = 0; i < power.gpus[3].size(); ++i)
    power.gpus[3][i].energy_j = 300.0 * static_cast<double>(i);
  rows = step_energy(steps_at(StepClock::kUnix, 0), power);
  EXPECT_STREQ(rows.at(0).source, "counter");
  EXPECT_NEAR(rows[0].joules.value(), 600, 30) << "300 W for 2 s, the ends of the step by shape";
}

TEST(RunStepEnergy, OtherClocksAreBroughtToUnixTime) {
  SampledPower power = ramp();
  // Unix time is 9 s ahead of the monotonic clock and 6 s ahead of the boot-time clock
  power.begin = {10 * kSecond, 1 * kSecond, 4 * kSecond, 0};
  power.end = {20 * kSecond, 11 * kSecond, 14 * kSecond, 0};
  const auto monotonic = step_energy(steps_at(StepClock::kMonotonic, -9 * kSecond), power);
  EXPECT_DOUBLE_EQ(monotonic.at(0).joules.value(), 230);
  const auto boottime = step_energy(steps_at(StepClock::kBoottime, -6 * kSecond), power);
  EXPECT_DOUBLE_EQ(boottime.at(0).joules.value(), 230);
  EXPECT_EQ(boottime[0].start_unix_ns, 10 * kSecond + kSecond / 2);
  EXPECT_TRUE(step_energy(steps_at(StepClock::kUnknown, 0), power).empty());
}

TEST(RunStepEnergy, TimeThatWasCorrectedDuringTheRunCountsInPart) {
  const ClockAnchor begin{100, 0, 0, 0};
  const ClockAnchor end{1120, 1000, 1000, 0}; // Unix time was corrected by 20 ns
  EXPECT_EQ(unix_time(0, StepClock::kMonotonic, begin, end), 100);
  EXPECT_EQ(unix_time(500, StepClock::kMonotonic, begin, end), 610);
  EXPECT_EQ(unix_time(2000, StepClock::kBoottime, begin, end), 2120);
  EXPECT_EQ(unix_time(500, StepClock::kUnix, begin, end), 500);
}

TEST(RunStepEnergy, ADeviceThatWasNotSampledHasBlankRows) {
  SampledPower power = ramp();
  power.gpu_of_device.clear(); // so device 0 is GPU 0
  const auto rows = step_energy(steps_at(StepClock::kUnix, 0), power);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].gpu.has_value());
  EXPECT_FALSE(rows[0].joules.has_value());
  EXPECT_EQ(rows[0].samples, 0);
}

TEST(RunStepEnergy, DevicesAreThoseThatTheProcessSees) {
  const std::map<int, std::string> uuids = {{0, "GPU-aa"}, {1, "GPU-bb"}};
  EXPECT_TRUE(visible_gpus("", uuids).empty());
  EXPECT_EQ(visible_gpus("3,1", uuids), (std::map<int, int>{{0, 3}, {1, 1}}));
  EXPECT_EQ(visible_gpus("GPU-b,GPU-x", uuids), (std::map<int, int>{{0, 1}, {1, -1}}));
}

TEST(RunStepEnergy, OfATrace) {
  test::TraceBuilder builder;
  builder.annotation("ProfilerStep#1", 100, 50).annotation("ProfilerStep#2", 150, 50);
  EXPECT_TRUE(traced_steps(builder.load()).devices.empty());
  builder.kernel("k", 110, 112, 5);
  const TracedSteps steps = traced_steps(builder.load());
  EXPECT_EQ(steps.devices, std::vector<int>{0});
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[1].number, 2);
  EXPECT_EQ(steps.steps[1].end_ns - steps.steps[0].start_ns, 100'000);
  EXPECT_EQ(steps.clock, StepClock::kUnknown); // the trace has no baseTimeNanoseconds
}

} // namespace
} // namespace rankscope
