// Tests how to add an analysis, a reader or a writer: one file (toy_*.cpp here) and one line in a
// list. The lists in lists/ are those of the project plus that line. This executable compiles the
// files that read the lists again with these lists; everything else is linked from the libraries.
#include "analyses/analysis.h"
#include "engine/run_ranks.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"
#include "writers/writer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

class Extension : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(synth::generate(test::small_sweep(), folder_.path("run"), 1, nullptr));
    Diagnostics diag;
    auto plans = discover_sweep(folder_.path("run"), {}, diag);
    ASSERT_TRUE(plans && plans->size() == 1);
    plan_ = plans->front();
  }
  test::TempFolder folder_;
  RunPlan plan_;
};

TEST_F(Extension, AnAnalysisIsInTheReport) {
  const auto trace = load_trace(plan_.ranks[1].path, {});
  ASSERT_TRUE(trace);
  ReportOptions options;
  options.sheets = {"toy_events"};
  const auto report = build_report(*trace, options);
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->tables.size(), 1U);
  EXPECT_EQ(report->tables[0].at(0, "events").i,
            static_cast<std::int64_t>(trace->trace.events.size()));
  const auto all = build_report(*trace, {});
  ASSERT_TRUE(all);
  EXPECT_GT(all->tables.size(), 3U);
  EXPECT_NE(all->find("toy_events"), nullptr);
}

TEST_F(Extension, AReaderOfTwoRanksInAFileIsFoundByTheFilesContent) {
  const test::TempFolder run;
  run.write("both.txt", "toy 1 0 1\n0 gemm 0 10\n1 gemm 5 20\n1 copy 30 1\n");
  Diagnostics diag;
  const auto plan = discover_run({run.path()}, {}, diag);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 2U);
  Session session;
  const auto events = extract_ranks<std::size_t>(
      session, {&*plan}, {}, [](const RankItem&, const LoadedTrace& trace) -> Result<std::size_t> {
        return trace.trace.events.size();
      });
  ASSERT_TRUE(events) << events.error().message();
  EXPECT_EQ(events->front(), (std::vector<std::size_t>{1, 2}));
}

TEST_F(Extension, AWriterIsFoundByName) {
  const Writer* const toy = find_writer("toy");
  ASSERT_NE(toy, nullptr);
  EXPECT_NE(find_writer("xlsx"), nullptr);
  const auto trace = load_trace(plan_.ranks[0].path, {});
  ASSERT_TRUE(trace);
  const auto report = build_report(*trace, {});
  ASSERT_TRUE(report);
  ASSERT_TRUE(toy->write(*report, folder_.path("names")));
  EXPECT_NE(test::bytes_of(folder_.path("names")).find("gpu_timeline\n"), std::string::npos);
}

TEST(ExtensionSize, AFileOfAPageAndALine) {
  const fs::path here = test::source_dir() / "tests" / "extension";
  for (const char* name : {"toy_analysis.cpp", "toy_reader.cpp", "toy_writer.cpp"}) {
    const std::string text = test::bytes_of((here / name).string());
    const auto lines = std::count(text.begin(), text.end(), '\n');
    std::printf("%s: %d lines\n", name, static_cast<int>(lines));
    EXPECT_GT(lines, 10) << name;
    EXPECT_LE(lines, 70) << name;
  }
  int lists = 0;
  for (const auto& entry : fs::recursive_directory_iterator(here / "lists"))
    if (entry.is_regular_file()) {
      ++lists; // the project's list plus one line
      const std::string text = test::bytes_of(entry.path().string());
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << entry.path();
    }
  EXPECT_EQ(lists, 3);
}

} // namespace
} // namespace rankscope
