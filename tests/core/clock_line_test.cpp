// Tests conversion of times from one clock to another: hand-calculated values, the order of times,
// and extreme times.
#include "core/clock_line.h"
#include "core/trace.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

TEST(ClockLine, ByHand) {
  EXPECT_EQ((ClockLine{500, 0, 0}.at(123)), 500);
  // 30 us per second: 60 us after two seconds, -15 us half a second before
  const ClockLine line{500, 30'000'000, 1'000'000'000};
  EXPECT_EQ(line.at(1'000'000'000), 500);
  EXPECT_EQ(line.at(3'000'000'000), 60'500);
  EXPECT_EQ(line.at(500'000'000), 500 - 15'000);
  // half a nanosecond is rounded away from zero: 500 ps in both directions
  EXPECT_EQ((ClockLine{0, 1'000, 0}.at(500'000'000)), 1);
  EXPECT_EQ((ClockLine{0, 1'000, 0}.at(-500'000'000)), -1);
  EXPECT_EQ((ClockLine{0, 1'000, 0}.at(499'000'000)), 0);
}

TEST(ClockLine, NoTwoTimesChangeTheirOrder) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const ClockLine line{0, static_cast<std::int64_t>(random() % 2'000'000'001) - kMaxDriftPpt,
                         static_cast<std::int64_t>(random() % 1'000'000'000'000)};
    const auto t = static_cast<std::int64_t>(random() % 1'000'000'000'000);
    const std::int64_t later = t + static_cast<std::int64_t>(random() % 3);
    EXPECT_LE(t - line.at(t), later - line.at(later)) << line.drift_ppt << " " << t;
  }
}

TEST(ClockLine, TheWidestTimesFit) { // sanitizers report overflow
  for (const std::int64_t drift : {-kMaxDriftPpt, kMaxDriftPpt})
    for (const std::int64_t from : {-2 * kMaxTimeNs, 2 * kMaxTimeNs}) {
      const std::int64_t gained = ClockLine{0, drift, from}.at(-from);
      EXPECT_NEAR(static_cast<double>(gained) / static_cast<double>(drift),
                  -2e-12 * static_cast<double>(from), 1);
    }
}

} // namespace
} // namespace rankscope
