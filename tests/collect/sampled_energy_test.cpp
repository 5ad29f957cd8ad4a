// Tests the energy of signals whose integral is known: by the counter, and by the samples of a
// random schedule.
#include "collect/samplers/sampler_summary.h"
#include "collect/samplers/schedule.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace rankscope {
namespace {

/// Power in W as a function of time in s, and its integral from 0 in J.
struct Signal {
  std::function<double(double)> watts, joules;
};

/// `high` W for `on` s at the begin of each period of `period` s, else `low` W.
Signal pulses(double period, double on, double low, double high) {
  return {[=](double t) { return t - period * std::floor(t / period) < on ? high : low; },
          [=](double t) {
            const double cycles = std::floor(t / period);
            return low * t + (high - low) * (cycles * on + std::min(on, t - cycles * period));
          }};
}

/// 400 W plus a sinusoid of 300 W.
Signal sinusoid(double period) {
  const double omega = 2 * std::numbers::pi / period;
  return {[=](double t) { return 400 + 300 * std::sin(omega * t); },
          [=](double t) { return 400 * t + 300 / omega * (1 - std::cos(omega * t)); }};
}

struct Measured {
  GpuSummary summary;
  double truth_j = 0;
  [[nodiscard]] bool contains_truth() const {
    const double rounding = 1e-6 * truth_j; // times are ns
    return *summary.joules_low - rounding <= truth_j && truth_j <= *summary.joules_high + rounding;
  }
  [[nodiscard]] double error() const { return summary.joules.value() / truth_j - 1; }
};

constexpr std::int64_t kPeriodNs = 100'000'000;

/// Samples 10 s of the signal every 100 ms, as the sampler does, from a random phase.
Measured measure(const Signal& signal, unsigned seed, bool counter) {
  std::mt19937 random(seed);
  const auto begin_ns =
      static_cast<std::int64_t>(std::uniform_real_distribution(0.0, 1e10)(random));
  const std::int64_t end_ns = begin_ns + 100 * kPeriodNs;
  GpuAccumulator gpu(GpuIdentity{}, kPeriodNs);
  const auto add = [&](std::int64_t t_ns, Phase was, Phase is) {
    const double t = static_cast<double>(t_ns) / 1e9;
    GpuReading reading;
    reading.power_w = signal.watts(t);
    if (counter)
      reading.energy_j = 1e6 + signal.joules(t);
    gpu.add(t_ns, was, is, reading);
  };
  add(begin_ns, Phase::kPre, Phase::kRun);
  Schedule schedule{kPeriodNs, begin_ns};
  for (;;) {
    if (!counter)
      schedule.scatter(random);
    const std::int64_t now = schedule.tick_ns();
    if (now >= end_ns)
      break;
    EXPECT_TRUE(schedule.due(now));
    if (now > begin_ns)
      add(now, Phase::kRun, Phase::kRun);
  }
  add(end_ns, Phase::kRun, Phase::kPost);
  return {gpu.summary(), signal.joules(static_cast<double>(end_ns) / 1e9) -
                             signal.joules(static_cast<double>(begin_ns) / 1e9)};
}

const Signal kConstant = pulses(1, 1, 300, 300);
const Signal kStep = pulses(2, 1, 100, 700);
const Signal kSlow = sinusoid(1.5);
const Signal kFast = sinusoid(0.1);
const Signal kFastSquare = pulses(0.1, 0.05, 100, 700);
const Signal kFaster = pulses(0.02, 0.01, 100, 700);
const Signal kDrifting = pulses(0.1003, 0.05, 100, 700);
const Signal kShortPulses = pulses(0.1, 0.006, 100, 900);

constexpr unsigned kSeeds = 100;

TEST(SampledEnergy, WithACounterTheEnergyIsRightWhateverTheSignal) {
  for (const Signal& signal :
       {kConstant, kStep, kSlow, kFast, kFastSquare, kFaster, kDrifting, kShortPulses})
    for (unsigned seed = 0; seed < 10; ++seed)
      EXPECT_NEAR(measure(signal, seed, true).error(), 0, 0.01);
}

TEST(SampledEnergy, TheIntervalContainsTheTruth) {
  for (const Signal& signal :
       {kConstant, kStep, kSlow, kFast, kFastSquare, kFaster, kDrifting, kShortPulses}) {
    unsigned contained = 0;
    for (unsigned seed = 0; seed < kSeeds; ++seed)
      contained += measure(signal, seed, false).contains_truth() ? 1 : 0;
    EXPECT_GE(contained, 90U) << signal.watts(0.01) << " " << signal.joules(10);
  }
}

TEST(SampledEnergy, ASignalAsFastAsTheSamplerIsAliased) {
  for (const Signal& signal : {kFast, kFastSquare, kFaster, kDrifting, kShortPulses})
    for (unsigned seed = 0; seed < kSeeds; ++seed)
      EXPECT_STREQ(measure(signal, seed, false).summary.energy_source(), "aliased") << seed;
}

// Regression test: a sinusoid of 1.5 s was aliased, although its samples were right to 0.02 %.
TEST(SampledEnergy, ASlowSignalHasItsEnergy) {
  for (const Signal& signal : {kConstant, kSlow})
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const Measured m = measure(signal, seed, false);
      ASSERT_STREQ(m.summary.energy_source(), "samples") << seed;
      EXPECT_NEAR(m.error(), 0, 0.01);
    }
}

} // namespace
} // namespace rankscope
