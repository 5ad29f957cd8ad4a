// Tests findings about a history of runs.
#include "findings/history_findings.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

ComparedRun history_run(int number, double ms) {
  constexpr std::int64_t kMs = 1'000'000;
  ComparedRun run;
  run.label = "build-" + std::to_string(number);
  RankTimeline& timeline = run.ranks[0];
  const auto ns = static_cast<std::int64_t>(ms * kMs);
  timeline.kinds[TimeKind::kTotal] = {2 * ns, 100};
  timeline.step_ns[TimeKind::kTotal] = {{1, ns - kMs}, {2, ns + kMs}};
  return run;
}

std::vector<Finding> findings_of(const std::vector<ComparedRun>& runs) {
  return history_findings(history_of(runs));
}

TEST(HistoryFindings, AChangeNamesItsRunAndDirection) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 24; ++i)
    runs.push_back(history_run(i, (i < 14 ? 100 : 110) + (i * 7 % 5) * 0.2));
  std::vector<Finding> found = findings_of(runs);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "level-change");
  EXPECT_EQ(found[0].subject, "GPU_total_time at build-14");
  EXPECT_EQ(found[0].headline.substr(0, 20), "GPU_total_time is 10");
  EXPECT_NE(found[0].headline.find(" % worse from build-14 on"), std::string::npos);
  EXPECT_GT(*found[0].low, 0);
  EXPECT_LT(*found[0].low, *found[0].value);
  for (ComparedRun& run : runs) // in reverse order: the change is an improvement
    run.ranks.at(0) =
        history_run(0,
                    210 - static_cast<double>(run.ranks.at(0).step_ns[TimeKind::kTotal][1]) / 1e6)
            .ranks.at(0);
  found = findings_of(runs);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].headline.find(" % better from build-14 on"), std::string::npos);
  EXPECT_GT(*found[0].low, 0); // the sign agrees with the word
}

// "worse" compares runs of equal work only.
TEST(HistoryFindings, AChangeOfTheWorkHasNoDirection) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 24; ++i)
    runs.push_back(history_run(i, (i < 14 ? 100 : 110) + (i * 7 % 5) * 0.2));
  History history = history_of(runs);
  WorkDifference other;
  other.base_percent = other.test_percent = 60;
  other.op = "aten::mm";
  history.work_changes = {{14, other}};
  const std::vector<Finding> notes = history_notes(runs, history);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].headline, "build-13 and build-14 do different work per step");
  const std::vector<Finding> found = history_findings(history);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].headline, "GPU_total_time changes at build-14");
  EXPECT_TRUE(found[0].evidence.ends_with("ms after; the runs do different work"));
}

TEST(HistoryFindings, FewRunsAndNoChangeAreReported) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 6; ++i)
    runs.push_back(history_run(i, i < 3 ? 100 : 200));
  std::vector<Finding> found = findings_of(runs);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "too-few-runs");
  runs.clear();
  for (int i = 0; i < 20; ++i)
    runs.push_back(history_run(i, 100 + (i * 7 % 5)));
  found = findings_of(runs);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].headline, "No metric changes significantly in 20 runs");
}

TEST(HistoryFindings, MetricsOfFewRunsAreNotTested) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 14; ++i) {
    runs.push_back(history_run(i, 100 + (i * 7 % 5)));
    if (i < 4)
      runs.back().ranks.at(0).step_ns[TimeKind::kTotalMemcpy] = {{1, 1000}, {2, 1000}};
    runs.back().ranks.at(0).kinds[TimeKind::kTotalMemcpy] = {2000, 1};
  }
  const std::vector<Finding> found = findings_of(runs);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].headline, "No tested metric changes significantly in 14 runs");
  EXPECT_EQ(found[1].rule, "too-few-runs");
  EXPECT_EQ(found[1].evidence, "GPU_total_memcpy_time is in 4 runs");
}

TEST(HistoryFindings, NotesNameRunsThatDiffer) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 12; ++i)
    runs.push_back(history_run(i, 100 + (i % 3) * 0.1));
  EXPECT_TRUE(history_notes(runs, history_of(runs)).empty());
  runs[7].ranks.at(0).step_ns.clear();
  runs[3].ranks[1] = runs[3].ranks.at(0);
  std::vector<Finding> notes = history_notes(runs, history_of(runs));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].headline, "build-0 has 1 rank and build-3 has 2");
  EXPECT_EQ(notes[1].sentence(), "build-7 has no profiler steps. Its GPU times are left out, "
                                 "because other runs have steps.");
  for (ComparedRun& run : runs)
    run.ranks.at(0).step_ns.clear();
  runs[3].ranks.erase(1);
  notes = history_notes(runs, history_of(runs));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].rule, "complete-traces");
}

} // namespace
} // namespace rankscope
