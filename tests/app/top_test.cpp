// Tests top for a folder: its values equal those of a report of each rank, and a slow rank is named
// only if the data show one. Also tests which files the watch mode reads, waits for, and forgets.
#include "app/top.h"

#include "app/report_trace.h"
#include "small_sweep.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Generates a run of four ranks; returns the folder of its traces.
std::string make_run(const test::TempFolder& folder, synth::Options options) {
  options.ranks = 4;
  EXPECT_TRUE(synth::generate(options, folder.path("sweep"), 2, [](const std::string&) {}));
  return test::config_folder(folder.path("sweep")) + "/torch_profiler";
}

synth::Options run_options() {
  synth::Options o = test::small_sweep();
  o.layers = 3;
  o.steps = 6;
  return o;
}

TopFacts facts_of(const std::string& path) {
  Session session;
  session.threads = 2;
  TopRequest request;
  request.inputs = {path};
  request.top_k = 0;
  auto facts = top_of(session, request);
  EXPECT_TRUE(facts) << facts.error().message();
  return facts ? std::move(*facts) : TopFacts{};
}

std::vector<std::int64_t> marked(const TopFacts& facts) {
  std::vector<std::int64_t> out;
  for (const TopRankRow& row : facts.ranks)
    if (row.slow || row.late)
      out.push_back(row.rank);
  return out;
}

TEST(Top, MarksTheSlowRankOnlyWhereTheDataShowOne) {
  const test::TempFolder folder;
  synth::Options slow = run_options();
  slow.straggler = 2;
  const TopFacts straggling = facts_of(make_run(folder, slow));
  EXPECT_EQ(marked(straggling), std::vector<std::int64_t>{2});
  const test::TempFolder other;
  synth::Options equal = run_options();
  equal.straggler = -1;
  equal.equal_devices = true;
  const TopFacts none = facts_of(make_run(other, equal));
  EXPECT_TRUE(marked(none).empty());
  EXPECT_EQ(none.ranks.size(), 4U);
}

TEST(Top, SumsOverRanksAreTheSumsOfEach) {
  const test::TempFolder folder;
  const std::string run = make_run(folder, run_options());
  const TopFacts all = facts_of(run);
  double kernels = 0, operators = 0, total = 0, idle = 0;
  std::int64_t launches = 0;
  std::size_t traces = 0;
  for (const auto& rank : fs::directory_iterator(run))
    for (const auto& file : fs::directory_iterator(rank)) {
      const TopFacts single = facts_of(file.path().string());
      kernels += single.overview.kernel_ms;
      operators += single.overview.operator_ms;
      launches += single.overview.kernel_launches;
      total += single.overview.total_ms;
      idle += single.ms(TimeKind::kIdle);
      ++traces;
      EXPECT_FALSE(std::any_of(single.problems.begin(), single.problems.end(),
                               [](const Problem& p) { return p.severity == Severity::kDataLoss; }))
          << "one trace alone lacks nothing that was asked for";
    }
  ASSERT_EQ(traces, 4U);
  EXPECT_NEAR(all.overview.kernel_ms, kernels, 1e-6);
  EXPECT_NEAR(all.overview.operator_ms, operators, 1e-6);
  EXPECT_EQ(all.overview.kernel_launches, launches);
  EXPECT_NEAR(all.overview.total_ms, total / 4, 1e-9);
  double causes = 0;
  for (const TopIdle& i : all.idle)
    causes += i.ms;
  EXPECT_NEAR(causes, idle / 4, 1e-9);
}

// The overview of a report's workbook lists the findings of top, with the same causes first.
TEST(Top, AReportListsTheSameFindings) {
  const test::TempFolder folder;
  synth::Options options = run_options();
  options.inject.work.push_back({synth::AddedWork::kLoader, 20});
  const std::string trace = make_run(folder, options) + "/rank0/trace_step19.json";
  ReportRequest request;
  request.trace = trace;
  request.outputs.file = folder.path("report.xlsx");
  request.top = true;
  Session session;
  const auto report = report_trace(session, request);
  ASSERT_TRUE(report) << report.error().message();
  const auto headlines = [](const TopFacts& facts) {
    std::vector<std::string> out;
    for (const Finding& f : facts.findings)
      out.push_back(f.headline + ": " + f.evidence + ": " + f.action);
    return out;
  };
  ASSERT_FALSE(report->top->findings.empty());
  EXPECT_TRUE(report->top->findings[0].headline.starts_with("The GPU waits for the data loader"))
      << report->top->findings[0].headline;
  EXPECT_EQ(headlines(*report->top), headlines(facts_of(trace)));
}

TEST(Top, AMissingRankIsSaidFirst) {
  const test::TempFolder folder;
  synth::Options options = run_options();
  options.missing_ranks = {1};
  const TopFacts facts = facts_of(make_run(folder, options));
  ASSERT_FALSE(facts.problems.empty());
  EXPECT_EQ(facts.problems.front().severity, Severity::kDataLoss);
  EXPECT_NE(facts.problems.front().sentence.find("rank 1"), std::string::npos);
}

/// A trace as GPU profilers write it: kernels without calls. `report` would show 0 ms.
TEST(Top, WorkWithoutLaunchesIsCountedWhereThereIsNoOther) {
  const test::TempFolder folder;
  const std::string text =
      R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)"
      R"("ts":10,"dur":30,"args":{"device":0,"stream":7}},{"ph":"X","cat":"kernel","name":"k",)"
      R"("pid":0,"tid":7,"ts":60,"dur":40,"args":{"device":0,"stream":7}}]})";
  const TopFacts facts = facts_of(folder.write("t.json", text));
  EXPECT_DOUBLE_EQ(facts.overview.total_ms, 0.09);
  ASSERT_EQ(facts.idle.size(), 1U);
  EXPECT_EQ(facts.idle.front().cause, IdleCause::kUnknown);
  EXPECT_DOUBLE_EQ(facts.idle.front().ms, 0.02);
  ASSERT_EQ(facts.kernels.size(), 1U);
  EXPECT_EQ(facts.kernels.front().sum.count, 2);
}

TEST(Top, WhatGraphsRanWithoutOperatorsIsSaidFirst) {
  const test::TempFolder folder;
  const std::string text =
      R"({"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch",)"
      R"("pid":1,"tid":1,"ts":1,"dur":2,"args":{"correlation":5}},{"ph":"X","cat":"kernel",)"
      R"("name":"k","pid":0,"tid":7,"ts":10,"dur":30,"args":{"device":0,"stream":7,)"
      R"("correlation":5}}]})";
  const TopFacts facts = facts_of(folder.write("t.json", text));
  ASSERT_FALSE(facts.problems.empty());
  EXPECT_NE(facts.problems.front().sentence.find("NOT attributed 100.0 %"), std::string::npos)
      << facts.problems.front().sentence;
}

TEST(Top, SeveralConfigurationsAreNoRun) {
  const test::TempFolder folder;
  synth::Options options = test::small_sweep();
  options.channels = {28, 42};
  ASSERT_TRUE(synth::generate(options, folder.path("sweep"), 2, [](const std::string&) {}));
  Session session;
  TopRequest request;
  request.inputs = {folder.path("sweep")};
  const auto facts = top_of(session, request);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::kUsage);
  EXPECT_NE(facts.error().what.find("2 configurations"), std::string::npos);
}

/// Files arrive in a watched folder. No test sleeps, because each poll is a call.
class Watched : public ::testing::Test {
protected:
  Watched() {
    source_ = make_run(made_, test::small_sweep());
    request_.inputs = {seen_.path()};
  }
  std::string trace(int rank) const {
    for (const auto& file : fs::directory_iterator(source_ + "/rank" + std::to_string(rank)))
      return file.path().string();
    return "";
  }
  std::string target(int rank) const { return seen_.path("rank" + std::to_string(rank)); }
  void arrive(int rank) const {
    fs::create_directories(target(rank));
    fs::copy_file(trace(rank), target(rank) + "/trace.json", fs::copy_options::overwrite_existing);
  }
  TopPoll poll(TopWatch& watch) {
    auto out = watch.poll(session_);
    EXPECT_TRUE(out) << out.error().message();
    return out ? std::move(*out) : TopPoll{};
  }

  test::TempFolder made_, seen_;
  std::string source_;
  Session session_;
  TopRequest request_;
};

TEST_F(Watched, ReadsWhatIsNewOnceItRests) {
  TopWatch watch(request_, 3600); // a file that was just written may still grow
  TopPoll at = poll(watch);
  EXPECT_TRUE(at.facts.ranks.empty());
  arrive(0);
  at = poll(watch);
  EXPECT_TRUE(at.facts.ranks.empty());
  ASSERT_EQ(at.waiting.size(), 1U);
  EXPECT_NE(at.waiting.front().find("rank0/trace.json"), std::string::npos);
  at = poll(watch); // same size and time as before
  EXPECT_TRUE(at.changed);
  EXPECT_TRUE(at.waiting.empty());
  EXPECT_EQ(at.facts.ranks.size(), 1U);
  EXPECT_EQ(watch.traces_read(), 1U);
  EXPECT_FALSE(poll(watch).changed);
  arrive(1);
  EXPECT_EQ(poll(watch).waiting.size(), 1U);
  at = poll(watch);
  EXPECT_EQ(at.facts.ranks.size(), 2U);
  EXPECT_EQ(watch.traces_read(), 2U) << "rank 0 was read before";
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(poll(watch).changed);
  EXPECT_EQ(watch.traces_read(), 2U);
}

TEST_F(Watched, AFileThatGrowsIsReadWhenItIsWhole) {
  TopWatch watch(request_, 3600);
  const std::string bytes = test::bytes_of(trace(0));
  for (std::size_t part = 1; part <= 3; ++part) {
    seen_.write("rank0/trace.json", bytes.substr(0, bytes.size() * part / 3));
    const TopPoll at = poll(watch);
    EXPECT_TRUE(at.facts.ranks.empty());
    EXPECT_EQ(at.waiting.size(), 1U);
  }
  const TopPoll complete = poll(watch);
  ASSERT_EQ(complete.facts.ranks.size(), 1U);
  EXPECT_EQ(complete.facts.overview.kernel_launches, facts_of(trace(0)).overview.kernel_launches);
  EXPECT_EQ(watch.traces_read(), 1U);
}

TEST_F(Watched, AChangedFileIsReadAgainAndAGoneOneForgotten) {
  TopWatch watch(request_, 3600);
  arrive(0);
  arrive(1);
  (void)poll(watch);
  ASSERT_EQ(poll(watch).facts.ranks.size(), 2U);
  fs::copy_file(trace(2), target(1) + "/trace.json", fs::copy_options::overwrite_existing);
  fs::last_write_time(target(1) + "/trace.json",
                      fs::last_write_time(target(0) + "/trace.json") + std::chrono::seconds(5));
  const TopPoll grows = poll(watch);
  EXPECT_EQ(grows.waiting.size(), 1U);
  EXPECT_EQ(grows.facts.ranks.size(), 2U) << "what it had is shown until it is whole";
  EXPECT_EQ(poll(watch).facts.ranks.size(), 2U);
  EXPECT_EQ(watch.traces_read(), 3U);
  fs::remove_all(target(0));
  const TopPoll gone = poll(watch);
  ASSERT_EQ(gone.facts.ranks.size(), 1U);
  EXPECT_EQ(gone.facts.ranks.front().rank, 1);
  EXPECT_EQ(watch.traces_read(), 3U);
}

TEST_F(Watched, ABrokenFileIsNamedAndMendedByAnotherLook) {
  TopWatch watch(request_, 3600);
  arrive(0);
  seen_.write("rank1/trace.json", "no trace at all, and long enough to be looked into");
  (void)poll(watch);
  const TopPoll broken = poll(watch);
  EXPECT_EQ(broken.facts.ranks.size(), 1U);
  EXPECT_TRUE(broken.diagnostics.data_lost());
  arrive(1);
  (void)poll(watch);
  const TopPoll mended = poll(watch);
  EXPECT_EQ(mended.facts.ranks.size(), 2U);
}

} // namespace
} // namespace rankscope
