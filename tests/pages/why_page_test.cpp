// Tests the page of causes, with handmade facts.
#include "pages/why_page.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string late_rank_text(const std::vector<std::pair<StretchPart, double>>& parts, double all) {
  CauseFacts facts;
  facts.ranks = 4;
  LateRankParts& late = facts.late_rank_parts.emplace_back();
  late.rank = 2;
  late.all.excess_ms = all;
  for (const auto& [part, ms] : parts)
    late.parts[static_cast<std::size_t>(part)].excess_ms = ms;
  PageStyle style;
  style.width = 200;
  return why_page(facts, RunClock(), style, 5, {});
}

TEST(WhyPage, ARankThatIsEarlierIsNoLateRank) {
  const std::string earlier = late_rank_text({{StretchPart::kKernels, -0.008}}, -0.008);
  EXPECT_EQ(earlier.find("LATE RANKS"), std::string::npos) << earlier;
}

TEST(WhyPage, ThePartsOfALateRankAddUp) {
  const std::string small = late_rank_text({{StretchPart::kKernels, 0.941},
                                            {StretchPart::kHost, 0.068},
                                            {StretchPart::kLaunch, 0.041},
                                            {StretchPart::kCopies, 0.012}},
                                           1.067);
  EXPECT_NE(small.find("1.07 ms later in total"), std::string::npos) << small;
  EXPECT_NE(small.find("A delay counts at each collective until"), std::string::npos) << small;
  EXPECT_NE(small.find("kernels +0.94, host +0.07; rest 0.06"), std::string::npos) << small;
  const std::string negative =
      late_rank_text({{StretchPart::kKernels, 6.5}, {StretchPart::kHost, -0.9}}, 5.0);
  EXPECT_NE(negative.find("kernels +6.50, host -0.90; rest -0.60"), std::string::npos) << negative;
}

} // namespace
} // namespace rankscope
