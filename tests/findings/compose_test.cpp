// Tests the numbers, names and records of which findings are composed.
#include "findings/compose.h"

#include "base/display_text.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ComposeFindings, NumbersHaveThreeSignificantDigits) {
  EXPECT_EQ(number3(160.83), "161");
  EXPECT_EQ(number3(99.951), "100.0"); // rounding may add a digit
  EXPECT_EQ(number3(3.3), "3.30");
  EXPECT_EQ(number3(0.012345), "0.0123");
  EXPECT_EQ(number3(-4.5678), "-4.57");
  EXPECT_EQ(number3(0), "0");
  EXPECT_EQ(number3(1e-12), "0.000000");
  EXPECT_EQ(number3(1.5e12), "1.5e+12");
  // numbers of a list have the decimals of the largest
  EXPECT_EQ(number3(0.979, 20.4), "1.0");
  EXPECT_EQ(number3(-0.0004, 4.56), "0.00");
}

TEST(ComposeFindings, SizesHaveTheirUnit) {
  EXPECT_EQ(size_text(4), "4 B");
  EXPECT_EQ(size_text(12.5 * 1024), "12.5 KiB");
  EXPECT_EQ(size_text(369164288), "352 MiB");
  EXPECT_EQ(size_text(0x1p40), "1024 GiB");
}

TEST(ComposeFindings, RangesHaveTheDigitsThatTheirDifferenceNeeds) {
  EXPECT_EQ(range3(160.82, 161.74), "160.8 to 161.7");
  EXPECT_EQ(range3(0.8012, 1.0923), "0.80 to 1.09");
  EXPECT_EQ(range3(100, 300), "100 to 300");
  EXPECT_EQ(range3(12.34567, 12.34571), "12.34567 to 12.34571");
  EXPECT_EQ(range3(5, 5), "5.00");
  EXPECT_EQ(range3(0.341, 0.341 + 1e-9), "0.341");
  EXPECT_EQ(range3(MeanDifference{-2, 1}), "-3.00 to -1.00");
  EXPECT_EQ(amounts3({-2, 1}), "1.00 to 3.00");
}

TEST(ComposeFindings, PercentAndLists) {
  EXPECT_EQ(percent_text(29.94), "29.9 %");
  EXPECT_EQ(percent_text(0.254), "0.25 %");
  EXPECT_EQ(joined({"a"}, "or"), "a");
  EXPECT_EQ(joined({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(joined({"a", "b", "c"}, "and"), "a, b and c");
  EXPECT_EQ(counted(1, "step", "steps"), "1 step");
  EXPECT_EQ(counted(2, "step", "steps"), "2 steps");
  EXPECT_EQ(level_text(1), "95 % CI");
  EXPECT_EQ(level_text(18), "95 % CI over 18 comparisons");
}

TEST(ComposeFindings, NamesFitIntoAHeadline) {
  Finding f = finding_of(rules::slow_rank, "rank", "3");
  EXPECT_EQ(f.rule, "slow-rank");
  EXPECT_EQ(f.kind, FindingKind::kClaim);
  set_headline(f, std::string(99, 'x') + "y");
  EXPECT_EQ(f.headline, std::string(99, 'x') + "y");
  set_headline(f, std::string(101, 'x'));
  EXPECT_EQ(f.headline, std::string(97, 'x') + "...");
  set_headline(f, std::string(80, 'x') + " per step, no significant difference");
  EXPECT_EQ(f.headline, std::string(80, 'x') + " per step, no...");
  set_headline(f, std::string(80, 'x') + " ms per step, small differences");
  EXPECT_EQ(f.headline, std::string(80, 'x') + " ms per step,...");
  for (const char* name : {"a\nb", "\x1b[31mred", "\xff\xfe", "\u4e2d\u6587\u4e2d\u6587\u4e2d"}) {
    const std::string text = brief(name, 8);
    EXPECT_LE(display_width(text), 8U);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(shown_text(text, true), text);
  }
}

TEST(ComposeFindings, ASentenceHasThePartsThatThereAre) {
  Finding f;
  f.headline = "Rank 3 is late";
  EXPECT_EQ(f.sentence(), "Rank 3 is late.");
  f.action = "Look at it";
  EXPECT_EQ(f.sentence(), "Rank 3 is late. Look at it.");
  f.evidence = "By 3 us";
  EXPECT_EQ(f.sentence(), "Rank 3 is late. By 3 us. Look at it.");
}

TEST(ComposeFindings, ARuleAndASubjectStandOnce) {
  std::vector<Finding> all = {finding_of(rules::slow_rank, "rank", "3")};
  add_findings(all, {finding_of(rules::slow_rank, "rank", "3"),
                     finding_of(rules::slow_rank, "ranks", "3"),
                     finding_of(rules::late_rank, "rank", "3")});
  EXPECT_EQ(all.size(), 3U);
}

TEST(ComposeFindings, EveryFieldIsAColumn) {
  Finding f = finding_of(rules::slow_rank, "rank", "3");
  set_interval(f, 2, 0.5, Unit::kMs);
  f.steps = 8;
  f.scope = FindingScope::kThisRun;
  f.cost_ms = 1.5;
  f.detectable = 0.25;
  f.place = FindingPlace{3, 10, 20};
  f.headline = "a";
  f.evidence = "b";
  f.action = "c";
  const std::vector<Finding> rows = {f, Finding{}};
  const Table table = finding_schema().table(rows);
  EXPECT_EQ(table.at(0, "rule").text, "slow-rank");
  EXPECT_EQ(table.at(0, "kind").text, "claim");
  EXPECT_EQ(table.at(0, "subject").text, "3");
  EXPECT_EQ(table.at(0, "value").d, 2);
  EXPECT_EQ(table.at(0, "unit").text, "ms");
  EXPECT_EQ(table.at(0, "low").d, 1.5);
  EXPECT_EQ(table.at(0, "high").d, 2.5);
  EXPECT_EQ(table.at(0, "steps").i, 8);
  EXPECT_EQ(table.at(0, "scope").text, "this run");
  EXPECT_EQ(table.at(0, "cost_ms").d, 1.5);
  EXPECT_EQ(table.at(0, "detectable").d, 0.25);
  EXPECT_EQ(table.at(0, "rank").i, 3);
  EXPECT_EQ(table.at(0, "start_ns").i, 10);
  EXPECT_EQ(table.at(0, "end_ns").i, 20);
  EXPECT_EQ(table.at(0, "headline").text, "a");
  for (const char* empty : {"value", "unit", "low", "high", "steps", "cost_ms", "detectable",
                            "rank", "start_ns", "end_ns", "headline", "evidence", "action"})
    EXPECT_TRUE(table.at(1, empty).is_null()) << empty;
}

} // namespace
} // namespace rankscope
