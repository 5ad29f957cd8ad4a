// compare: the formulas of the timeline comparison by hand-worked cases.
#include "analyses/compare_runs.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

Table timeline(double total, double memcpy_ms, bool idle) {
  Table t("gpu_timeline", {{"type"}, {"time ms"}, {"percent"}});
  t.add_row({"total_time", total, 100.0});
  t.add_row({"total_memcpy_time", memcpy_ms, 100 * memcpy_ms / total});
  if (idle)
    t.add_row({"idle_time", 1.0, 100 / total});
  return t;
}

TEST(CompareRuns, FormulasSignsAndRowsOfOneRunOnly) {
  RunTimelines a{"a", {}};
  RunTimelines b{"b", {}};
  a.ranks.emplace(0, timeline(100, 0, true));
  a.ranks.emplace(1, timeline(200, 0, true));
  b.ranks.emplace(0, timeline(90, 5, false));
  b.ranks.emplace(2, timeline(150, 0, false));
  const std::vector<Table> tables = compare_timelines(a, b, 1);
  ASSERT_EQ(tables.size(), 2U);
  const Table& s = tables[0]; // idle_time, total_memcpy_time, total_time
  ASSERT_EQ(s.rows(), 3U);
  EXPECT_EQ(s.at(0, "status").text, "only in a");
  EXPECT_TRUE(s.at(0, "percent_change").is_null());
  EXPECT_EQ(s.at(1, "status").text, "New");
  EXPECT_TRUE(s.at(1, "percent_change").is_null());
  EXPECT_TRUE(s.at(1, "ratio").is_null());
  EXPECT_DOUBLE_EQ(s.at(1, "diff_time_ms").number(), 2.5);
  EXPECT_DOUBLE_EQ(s.at(2, "a_time_ms").number(), 150);
  EXPECT_DOUBLE_EQ(s.at(2, "b_time_ms").number(), 120);
  EXPECT_DOUBLE_EQ(s.at(2, "diff_time_ms").number(), -30);
  EXPECT_DOUBLE_EQ(s.at(2, "percent_change").number(), 20); // faster is positive
  EXPECT_DOUBLE_EQ(s.at(2, "ratio").number(), 0.8);
  EXPECT_EQ(s.at(2, "status").text, "Better");
  const Table& r = tables[1];
  ASSERT_EQ(r.rows(), 8U); // ranks 0 and 1 with idle_time, rank 2 without
  EXPECT_EQ(r.at(3, "status").text, "only in a");
  EXPECT_EQ(r.at(7, "rank").i, 2);
  EXPECT_EQ(r.at(7, "status").text, "only in b");
}

TEST(CompareRuns, Judgement) {
  EXPECT_EQ(judge(100, 101.5, 1), "Worse");
  EXPECT_EQ(judge(100, 99.5, 1), "Similar");
  EXPECT_EQ(judge(100, 98.5, 1), "Better");
  EXPECT_EQ(judge(0, 0, 1), "Similar");
  EXPECT_EQ(judge(0, 1, 1), "New");
}

} // namespace
} // namespace rankscope
