// Tests the loop over ranks: order, lost ranks, and errors that end a run.
#include "engine/run_ranks.h"
#include "temp_folder.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>

namespace rankscope {
namespace {

class RunRanksTest : public ::testing::Test {
protected:
  /// Adds a plan with `ranks` ranks of a configuration; the file of rank `broken` is not a trace.
  RunPlan& plan(const std::string& label, int ranks, int broken = -1) {
    RunPlan p;
    p.configuration.label = label;
    for (int r = 0; r < ranks; ++r) {
      const std::string path = folder_.path() + "/" + label + "_" + std::to_string(r) + ".json";
      std::ofstream(path) << (r == broken ? "no trace"
                                          : fmt::format(R"({{"traceEvents": [{{"ph": "X",
 "cat": "kernel", "name": "k{}", "pid": 0, "tid": 7, "ts": 1, "dur": 2}}]}})",
                                                        r));
      p.ranks.push_back({r, path, 100});
    }
    plans_.push_back(std::make_unique<RunPlan>(std::move(p)));
    return *plans_.back();
  }
  std::vector<const RunPlan*> plans() const {
    std::vector<const RunPlan*> out;
    for (const auto& p : plans_)
      out.push_back(p.get());
    return out;
  }
  static Result<std::string> name_of(const RankItem& item, const LoadedTrace& trace) {
    return fmt::format("{} {} {}", item.plan.configuration.label, item.file.rank,
                       trace.trace.name(0));
  }

  test::TempFolder folder_;
  std::vector<std::unique_ptr<RunPlan>> plans_;
  Session session_;
};

TEST_F(RunRanksTest, RanksAreTakenInOrderByAnyNumberOfThreads) {
  plan("a", 5);
  plan("b", 7);
  for (const unsigned threads : {1U, 2U, 8U}) {
    std::vector<std::string> consumed;
    std::vector<std::size_t> finished;
    std::mutex mutex;
    RankSteps<std::string> steps;
    steps.extract = name_of;
    steps.consume = [&](const RankItem& item, const LoadedTrace& trace,
                        std::string part) -> Result<void> {
      EXPECT_EQ(trace.rank, item.file.rank);
      consumed.push_back(std::move(part));
      return {};
    };
    steps.finished = [&](std::size_t p) -> Result<void> {
      const std::lock_guard lock(mutex);
      finished.push_back(p);
      return {};
    };
    RankRun run;
    run.threads = threads;
    ASSERT_TRUE(run_ranks<std::string>(session_, plans(), run, std::move(steps)));
    ASSERT_EQ(consumed.size(), 12U);
    EXPECT_EQ(consumed.front(), "a 0 k0");
    EXPECT_EQ(consumed[4], "a 4 k4");
    EXPECT_EQ(consumed[5], "b 0 k0");
    EXPECT_EQ(consumed.back(), "b 6 k6");
    std::sort(finished.begin(), finished.end());
    EXPECT_EQ(finished, (std::vector<std::size_t>{0, 1}));
  }
}

TEST_F(RunRanksTest, EveryLostRankIsNamedUnderOneKey) {
  plan("a", 3, 1);
  plan("b", 2, 0);
  std::vector<std::int64_t> lost;
  RankSteps<std::string> steps;
  steps.extract = [](const RankItem& item, const LoadedTrace& trace) -> Result<std::string> {
    if (item.plan.configuration.label == "b")
      return Error{ErrorCode::kUnreadable, "", "too odd", ""};
    return name_of(item, trace);
  };
  std::vector<std::string> consumed;
  steps.consume = [&](const RankItem&, const LoadedTrace&, std::string part) -> Result<void> {
    consumed.push_back(std::move(part));
    return {};
  };
  steps.lost = [&](const RankItem& item, const Error&) { lost.push_back(item.file.rank); };
  RankRun run;
  run.threads = 3;
  ASSERT_TRUE(run_ranks<std::string>(session_, plans(), run, std::move(steps)));
  EXPECT_EQ(consumed, (std::vector<std::string>{"a 0 k0", "a 2 k2"}));
  EXPECT_EQ(lost, (std::vector<std::int64_t>{1, 0, 1}));
  const std::vector<Problem> problems = session_.diagnostics.problems();
  ASSERT_EQ(problems.size(), 3U);
  for (const Problem& p : problems) {
    EXPECT_EQ(p.name, "rank_failed");
    EXPECT_EQ(p.severity, Severity::kDataLoss);
  }
  EXPECT_EQ(problems[0].where, folder_.path() + "/a_1.json");
  EXPECT_EQ(problems[0].sentence.rfind("a rank 1: ", 0), 0U);
  EXPECT_EQ(problems[0].sentence.find(folder_.path()), std::string::npos);
  EXPECT_EQ(problems[2].sentence, "b rank 1: too odd");
}

TEST_F(RunRanksTest, AnOutputErrorEndsTheRun) {
  plan("a", 40);
  for (const bool in_extract : {true, false}) {
    std::atomic<int> extracted{0};
    int consumed = 0;
    RankSteps<int> steps;
    steps.extract = [&](const RankItem& item, const LoadedTrace&) -> Result<int> {
      ++extracted;
      if (in_extract && item.index == 2)
        return Error{ErrorCode::kOutput, "disk", "full", ""};
      return 1;
    };
    steps.consume = [&](const RankItem& item, const LoadedTrace&, int) -> Result<void> {
      ++consumed;
      if (!in_extract && item.index == 2)
        return Error{ErrorCode::kOutput, "disk", "full", ""};
      return {};
    };
    RankRun run;
    run.threads = 2;
    const Result<void> done = run_ranks<int>(session_, plans(), run, std::move(steps));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message(), "disk: full");
    EXPECT_LE(extracted, 10);
    EXPECT_EQ(consumed, in_extract ? 2 : 3);
    EXPECT_FALSE(session_.diagnostics.data_lost());
  }
}

TEST_F(RunRanksTest, ExceptionsAreErrorsAndNobodyWaitsForEver) {
  plan("a", 6);
  RankSteps<int> steps;
  steps.extract = [](const RankItem& item, const LoadedTrace&) -> Result<int> {
    if (item.index == 1)
      throw std::bad_alloc(); // the rank is lost
    return 1;
  };
  int consumed = 0;
  steps.consume = [&](const RankItem& item, const LoadedTrace&, int) -> Result<void> {
    if (item.index == 4)
      throw std::runtime_error("a bug"); // the run ends
    ++consumed;
    return {};
  };
  RankRun run;
  run.threads = 4;
  const Result<void> done = run_ranks<int>(session_, plans(), run, std::move(steps));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kInternal);
  EXPECT_EQ(consumed, 3);
  EXPECT_TRUE(session_.diagnostics.data_lost());
}

TEST_F(RunRanksTest, PartsComeBackByConfiguration) {
  plan("a", 3, 1);
  plan("empty", 0);
  plan("b", 1);
  RankRun run;
  run.link = false;
  const auto parts = extract_ranks<std::string>(session_, plans(), run, name_of);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 3U);
  EXPECT_EQ((*parts)[0], (std::vector<std::string>{"a 0 k0", "a 2 k2"}));
  EXPECT_TRUE((*parts)[1].empty());
  EXPECT_EQ((*parts)[2], (std::vector<std::string>{"b 0 k0"}));
}

} // namespace
} // namespace rankscope
