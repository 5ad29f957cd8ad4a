// Tests findings about the GEMMs with the largest spread.
#include "findings/run_findings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns rows whose calls are 10 us slower when overlapped, +- 8 us if the row is tested alone
/// (ten calls).
GemmFacts rows_of(std::size_t n) {
  GemmFacts facts;
  for (std::size_t i = 0; i < n; ++i) {
    GemmRow& row = facts.rows.emplace_back();
    row.op = "aten::mm";
    row.dims = std::to_string(i);
    row.calls_us.count = 10;
    row.calls_us.min = 100;
    row.calls_us.max = 120;
    row.slowdown_us = 10;
    row.slowdown_half_us = 8;
    row.slowdown_degrees = 8;
  }
  return facts;
}

// The rows with the largest spread are chosen from all rows, so each interval is corrected for all
// rows.
TEST(GemmFindings, TheIntervalIsForAllRows) {
  const std::string single = gemm_findings(rows_of(1), 1).at(0).evidence;
  EXPECT_NE(single.find("calls that collectives overlap are longer: 10.0 \u00b5s slower when fully "
                        "overlapped (95 % CI 2.0 to 18.0)"),
            std::string::npos)
      << single;
  // t(8) is 2.306 at 95 % and 3.833 at 99.5 %: 8 * 3.833 / 2.306 = 13.3
  const Finding ten = gemm_findings(rows_of(10), 1).at(0);
  EXPECT_NE(ten.evidence.find("these calls do not show an effect of overlap by collectives (-3.3 "
                              "to 23.3 \u00b5s when fully overlapped, 95 % CI over 10 rows)"),
            std::string::npos)
      << ten.evidence;
  EXPECT_NEAR(*ten.detectable, 13.3, 0.05);
  EXPECT_TRUE(ten.action.empty());
}

// The interval of a few calls can be longer than the calls themselves.
TEST(GemmFindings, AnIntervalLongerThanTheCallsIsNotGiven) {
  GemmFacts facts = rows_of(1);
  facts.rows[0].slowdown_half_us = 119;
  EXPECT_NE(gemm_findings(facts, 1).at(0).evidence.find("do not show an effect"),
            std::string::npos);
  facts.rows[0].slowdown_half_us = 121;
  const Finding few = gemm_findings(facts, 1).at(0);
  EXPECT_NE(few.evidence.find("; too few calls to know whether overlap by collectives makes them "
                              "longer"),
            std::string::npos)
      << few.evidence;
  EXPECT_EQ(few.evidence.find("121"), std::string::npos) << few.evidence;
  EXPECT_NEAR(*few.detectable, 121, 0.05);
}

// A single call has no spread. Calls that differ by less than 5 % are not a finding either.
TEST(GemmFindings, CallsThatAreAlikeAreNoFinding) {
  GemmFacts facts = rows_of(3);
  facts.rows[0].calls_us.max = 100; // like a single call
  facts.rows[1].calls_us.max = 104;
  const std::vector<Finding> findings = gemm_findings(facts, 3);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].subject, "aten::mm 2");
}

// Launches of one kernel can be different products. The rows of all kernels have the operator
// "(kernel)".
TEST(GemmFindings, WithoutOperatorsTheKernelIsNamed) {
  GemmFacts facts = rows_of(2);
  facts.rows[0].strides = "[[4096,1],[14336,1]]";
  for (const char* const kernel : {"Cijk_a", "Cijk_b"}) {
    GemmRow row = facts.rows[0];
    row.op = kGemmKernelOnly;
    row.kernel = kernel;
    row.dims = row.strides = "";
    facts.rows.push_back(row);
  }
  const std::vector<Finding> found = gemm_findings(facts, 9);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].headline, "aten::mm 0: calls take 100 to 120 \u00b5s");
  EXPECT_NE(found[0].evidence.find(
                "10 calls with the same strides and scalars on the same stream and GPU;"),
            std::string::npos);
  EXPECT_EQ(found[2].headline, "Cijk_a: calls take 100 to 120 \u00b5s, shapes unknown");
  EXPECT_EQ(found[3].subject, "Cijk_b");
}

TEST(GemmFindings, SeveralKernelsOfOneShapeAreNamed) {
  GemmFacts facts = rows_of(1);
  facts.rows[0].served = {{"large", 10}};
  EXPECT_EQ(gemm_findings(facts, 1).at(0).evidence.find("kernels: "), std::string::npos);
  facts.rows[0].served = {{"large", 16}, {"small", 8}};
  const std::string text = gemm_findings(facts, 1).at(0).evidence;
  EXPECT_NE(text.find("2 kernels: large 16 calls, small 8 calls"), std::string::npos) << text;
}

// ST-C16: calls that were significantly faster were reported as not significant.
TEST(GemmFindings, FasterIsSaidToo) {
  GemmFacts facts = rows_of(1);
  facts.rows[0].slowdown_us = -11.8;
  facts.rows[0].slowdown_half_us = 0.7;
  const std::string text = gemm_findings(facts, 1).at(0).evidence;
  EXPECT_NE(text.find("calls that collectives overlap are shorter: 11.8 \u00b5s faster when fully "
                      "overlapped (95 % CI 11.1 to 12.5)"),
            std::string::npos)
      << text;
}

// ST no. 10, ST-C7: the first call of each step is not overlapped and is faster because of its
// place; the second call is overlapped. No pair of calls shows the cost of the overlap.
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
        // tenths of the call that are overlapped
        const std::int64_t tenths = second ? 5 + step * 7 % 5 : step * 3 % 4;
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
    return gemm_findings(gemm_facts({rank}, 1, GemmRanking::kRange), 1).at(0).evidence;
  };
  EXPECT_NE(finding(0).find("do not show an effect of overlap"), std::string::npos) << finding(0);
  EXPECT_NE(finding(30'000).find("calls that collectives overlap are longer"), std::string::npos)
      << finding(30'000);
}

} // namespace
} // namespace rankscope
