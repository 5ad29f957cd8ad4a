#include "core/reference_time.h"

#include "analyses/operators/launchers.h"
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

TEST(ReferenceTime, IsTheDoubleOfTheDecimalText) {
  std::mt19937_64 random(7);
  const auto check = [](std::int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "",
                  static_cast<long long>(std::abs(ns / 1000)),
                  static_cast<long long>(std::abs(ns % 1000)));
    EXPECT_EQ(reference_us(ns), std::strtod(text, nullptr)) << text;
  };
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, kMaxTimeNs,
                                -kMaxTimeNs, std::int64_t{1} << 53, (std::int64_t{1} << 53) + 1})
    check(ns);
  // from some hours to some decades after the origin, with values of each bit length, so that
  // quotients are near the middle between two doubles
  for (int bits = 40; bits < 61; ++bits)
    for (int i = 0; i < 20'000; ++i)
      check(static_cast<std::int64_t>(random() >> (64 - bits)));
}

/// At 2^41 us after the origin, the distance between doubles is 2^-11 us. 10.001 us are 20482.048
/// of these distances, so the end of the kernel is rounded to 20482 distances after its start.
TEST(ReferenceTime, AKernelHasTheLengthThatDoublesLeave) {
  Trace trace;
  trace.events.ts_ns = {(std::int64_t{1} << 41) * 1000, (std::int64_t{1} << 41) * 1000 + 5'000};
  trace.events.dur_ns = {10'001, 1'000};
  const std::vector<EventId> events{0};
  EXPECT_EQ(busy_ns(trace, events, true), 20482.0 / 2048 * 1e3);
  EXPECT_EQ(busy_ns(trace, events, false), 10'001);
  const std::vector<EventId> both{0, 1}; // the second one runs during the first
  EXPECT_EQ(busy_ns(trace, both, true), 20482.0 / 2048 * 1e3);
  EXPECT_EQ(busy_ns(trace, both, false), 10'001);
  EXPECT_EQ(busy_ns(trace, {}, true), 0);
}

} // namespace
} // namespace rankscope
