// What is said of the GEMMs with the largest spread.
#include "analyses/gemm/gemm_facts.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Rows whose calls are 10 us slower when overlapped, +- 8 us for one alone (ten calls).
GemmFacts rows_of(std::size_t n) {
  GemmFacts facts;
  for (std::size_t i = 0; i < n; ++i) {
    GemmRow& row = facts.rows.emplace_back();
    row.op = "aten::mm";
    row.dims = std::to_string(i);
    row.calls_us.count = 10;
    row.slowdown_us = 10;
    row.slowdown_half_us = 8;
    row.slowdown_degrees = 8;
  }
  return facts;
}

// The most spread rows are chosen out of all: each interval is at a level for all of them.
TEST(GemmFindings, TheIntervalIsForAllRows) {
  const std::string one = gemm_findings(rows_of(1), 1).at(0);
  EXPECT_NE(one.find("longer durations go with overlap by collectives: 10.0 +- 8.0 us slower"),
            std::string::npos)
      << one;
  // t(8) is 2.306 at 95 % and 3.833 at 99.5 %: 8 * 3.833 / 2.306 = 13.3
  const std::string ten = gemm_findings(rows_of(10), 1).at(0);
  EXPECT_NE(
      ten.find("duration does not depend significantly on overlap by collectives: +10.0 +- 13.3"),
      std::string::npos)
      << ten;
  EXPECT_NE(ten.find("95 % over 10 rows"), std::string::npos) << ten;
}

// ST-C16: faster beyond its interval, and yet "it cannot be told".
TEST(GemmFindings, FasterIsSaidToo) {
  GemmFacts facts = rows_of(1);
  facts.rows[0].slowdown_us = -11.8;
  facts.rows[0].slowdown_half_us = 0.7;
  const std::string text = gemm_findings(facts, 1).at(0);
  EXPECT_NE(text.find("shorter durations go with overlap by collectives: 11.8 +- 0.7 us faster"),
            std::string::npos)
      << text;
}

// ST no. 10, ST-C7: the first call of each step is alone and faster for its place, the second is
// overlapped: no call tells what overlap costs.
TEST(GemmFindings, PlacesInTheStepAreNotComparedWithEachOther) {
  const auto finding = [](std::int64_t slower_by_overlap_ns) {
    RankGemms rank;
    GemmGroup& g = rank.groups.emplace_back();
    g.op = "aten::mm";
    g.dims = "((8, 8), (8, 8))";
    g.kernel_ns = {1};
    std::int64_t at = 0;
    for (std::int64_t step = 1; step <= 8; ++step)
      for (const bool second : {false, true}) {
        const std::int64_t tenths = second ? 5 + step * 7 % 5 : step * 3 % 4; // overlapped
        const std::int64_t dur =
            (second ? 100'000 : 80'000) + step * 37 % 100 * 10 + tenths * slower_by_overlap_ns / 10;
        g.instances.push_back({at, dur, step, dur * tenths / 10, 0});
        rank.gemm_ns += dur;
        at += 200'000;
      }
    g.longest = 1;
    for (std::size_t i = 0; i < g.instances.size(); ++i) {
      g.shortest = g.instances[i].dur_ns < g.instances[g.shortest].dur_ns ? i : g.shortest;
      g.longest = g.instances[i].dur_ns > g.instances[g.longest].dur_ns ? i : g.longest;
    }
    return gemm_findings(gemm_facts({rank}, 1, GemmRanking::kRange), 1).at(0);
  };
  EXPECT_NE(finding(0).find("does not depend significantly on overlap"), std::string::npos)
      << finding(0);
  EXPECT_NE(finding(30'000).find("longer durations go with overlap"), std::string::npos)
      << finding(30'000);
}

// Of many calls the shortest and the longest of each piece: none that matters is missing.
TEST(GemmCalls, AreThinnedToTheExtremesOfPieces) {
  std::vector<GemmInstance> calls;
  for (std::int64_t i = 0; i < 1000; ++i)
    calls.push_back({5000 + 10 * i, 100 + i * 7919 % 97, -1, i % 3, 0});
  calls[611].dur_ns = 9999;
  calls[377].dur_ns = 1;
  const std::vector<GemmCall> all = thinned_calls(calls, 5000, 1000);
  ASSERT_EQ(all.size(), 1000U);
  EXPECT_EQ(all[7].at_ns, 70);
  EXPECT_EQ(all[7].overlap_ns, 1);
  const std::vector<GemmCall> few = thinned_calls(calls, 5000, 100);
  EXPECT_EQ(few.size(), 100U);
  std::int64_t last = -1;
  for (const GemmCall& call : few) {
    EXPECT_GT(call.at_ns, last);
    last = call.at_ns;
    const GemmInstance& of = calls[static_cast<std::size_t>(call.at_ns / 10)];
    EXPECT_EQ(call.dur_ns, of.dur_ns);
    // it is an extreme of its piece of 20 calls
    const auto piece = static_cast<std::size_t>(call.at_ns / 10 / 20) * 20;
    std::int64_t least = INT64_MAX, most = 0;
    for (std::size_t i = piece; i < piece + 20; ++i) {
      least = std::min(least, calls[i].dur_ns);
      most = std::max(most, calls[i].dur_ns);
    }
    EXPECT_TRUE(of.dur_ns == least || of.dur_ns == most) << call.at_ns;
  }
  for (const std::int64_t at : {6110, 3770})
    EXPECT_TRUE(
        std::any_of(few.begin(), few.end(), [&](const GemmCall& c) { return c.at_ns == at; }));
  EXPECT_TRUE(thinned_calls({}, 0).empty());
  calls.resize(1);
  EXPECT_EQ(thinned_calls(calls, 0, 1).size(), 1U);
}

} // namespace
} // namespace rankscope
