// Tests the slowdown of GEMMs under collectives where the truth is known.
#include "analyses/gemm/gemm_facts.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

/// Returns the row of 36 calls in six steps. `overlap_of` returns the overlapped time of a call
/// with this duration. The calls take 1000 us +- 3 %.
GemmRow overlapped_row(const std::function<double(double us, std::mt19937_64& random)>& overlap_of,
                       const std::function<double(double us, double overlap_us)>& slower) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1000, 30);
  RankGemms rank;
  GemmGroup& group = rank.groups.emplace_back();
  group.op = "aten::mm";
  for (int i = 0; i < 36; ++i) {
    const double alone = noise(random);
    const double overlap = overlap_of(alone, random);
    GemmInstance& call = group.instances.emplace_back();
    call.dur_ns = std::llround(slower(alone, overlap) * 1e3);
    call.overlap_ns = std::llround(overlap / alone * static_cast<double>(call.dur_ns));
    call.start_ns = i * 10'000'000;
    call.end_ns = call.start_ns + call.dur_ns;
    call.step = i / 6;
    if (call.dur_ns < group.instances[group.shortest].dur_ns)
      group.shortest = group.instances.size() - 1;
    if (call.dur_ns > group.instances[group.longest].dur_ns)
      group.longest = group.instances.size() - 1;
  }
  return gemm_facts({rank}, 5, GemmRanking::kRange).rows.at(0);
}

double not_slower(double us, double) {
  return us;
}

// The share is overlap / duration. If a collective takes the same time in each call, a longer call
// has a smaller share; if it begins at the same time and outlasts the call, a larger one.
TEST(GemmSlowdown, OfSharesThatFollowFromTheDurationsIsNotGiven) {
  for (const double us : {20.0, 500.0, 900.0}) {
    const GemmRow inside = overlapped_row([us](double, auto&) { return us; }, not_slower);
    EXPECT_TRUE(std::isnan(inside.slowdown_us)) << us << " " << inside.slowdown_us;
    EXPECT_TRUE(std::isnan(inside.overlap_correlation));
    const GemmRow tail =
        overlapped_row([us](double call, auto&) { return std::max(0.0, call - us); }, not_slower);
    EXPECT_TRUE(std::isnan(tail.slowdown_us)) << us << " " << tail.slowdown_us;
  }
}

TEST(GemmSlowdown, OfSharesOfAllSizesIsTheTruth) {
  const auto any = [](double call, std::mt19937_64& random) {
    return call * std::uniform_real_distribution<double>(0.05, 0.95)(random);
  };
  const GemmRow slow =
      overlapped_row(any, [](double us, double overlap) { return us * (1 + 0.3 * overlap / us); });
  EXPECT_NEAR(slow.slowdown_us, 300, slow.slowdown_half_us * 1.5);
  EXPECT_LT(slow.slowdown_half_us, 60);
  const GemmRow equal = overlapped_row(any, not_slower);
  EXPECT_LT(std::fabs(equal.slowdown_us), equal.slowdown_half_us * 1.5);
}

} // namespace
} // namespace rankscope
