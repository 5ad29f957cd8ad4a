// Tests the use case `analyze`: stored results of a sweep are reused only if every input is
// unchanged, and results from disk are the same as computed ones.
#include "app/analyze.h"
#include "app/analyze_parts.h"
#include "graph_traces.h"
#include "pages/sweep_page.h"
#include "settle.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Changes the durations in a trace, but neither its size nor its modification time.
void change_durations(const std::string& path) {
  const auto time = fs::last_write_time(path);
  std::string text = test::bytes_of(path);
  const std::string_view name = "\"dur\": ";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (char& digit = text[at + name.size()]; digit >= '1' && digit <= '8')
      ++digit;
  put(path, text);
  fs::last_write_time(path, time);
}

/// A session that calls a function after each rank.
class Interfering : public Session {
public:
  std::function<void()> after_a_rank;
  void step_progress(std::uint64_t) override {
    if (after_a_rank)
      after_a_rank();
  }
};

class AnalyzeApp : public ::testing::Test {
protected:
  std::string sweep(const std::string& name, std::uint64_t seed) {
    synth::Options o;
    o.threads = {256};
    o.channels = {28, 70};
    o.ranks = 2;
    o.layers = 1;
    o.steps = 2;
    o.seed = seed;
    EXPECT_TRUE(synth::generate(o, folder_.path(name), 2, nullptr));
    return folder_.path(name);
  }
  AnalyzeRequest request(const std::string& sweep, const std::string& out) {
    AnalyzeRequest r;
    r.folder = sweep;
    r.label = "s";
    r.layout = OutputLayout(folder_.path(out));
    r.report = sweep_report_options();
    r.plots = false;
    return r;
  }
  static std::string trace(const std::string& sweep, int channels, int rank) {
    const fs::path at = fs::path(sweep) / "256thread" /
                        ("nccl_" + std::to_string(channels) + "channels") / "torch_profiler" /
                        ("rank" + std::to_string(rank));
    return fs::directory_iterator(at)->path().string();
  }
  static std::string summary(const AnalyzeRequest& r) {
    return test::bytes_of(r.layout.summary_markdown());
  }

  test::TempFolder folder_;
};

// The share of graph launches is in the written outputs and in the stored results, not only on the
// console.
TEST_F(AnalyzeApp, TheShareOfGraphLaunchesIsInItsOutputs) {
  // two kernels of a graph with 4 us each, and an eager kernel with 4 us
  test::Names events = test::replay_events("", {{"a", "b"}});
  events.push_back(test::event("cpu_op", "aten::mm", 400, 10));
  events.push_back(test::event("cuda_runtime", "hipLaunchKernel", 402, 2, R"({"correlation":3})"));
  events.push_back(
      test::event("kernel", "c", 420, 4, R"({"device":0,"stream":1,"correlation":3})", 1));
  for (int rank = 0; rank < 2; ++rank)
    folder_.write(fmt::format("s/256thread/nccl_28channels/rank{}/t.json", rank),
                  test::trace_text(events, rank));
  const AnalyzeRequest r = request(folder_.path("s"), "out");
  Session session;
  const Result<AnalyzedSweep> sweep = analyze_sweep(session, r);
  ASSERT_TRUE(sweep) << sweep.error().message();
  const auto graphs = std::find_if(sweep->facts.findings.begin(), sweep->facts.findings.end(),
                                   [](const Finding& f) { return f.rule == "graph-launches"; });
  ASSERT_NE(graphs, sweep->facts.findings.end());
  EXPECT_EQ(graphs->headline, "Graph launches take 66.7 % of the GPU time of rank 0");
  EXPECT_EQ(graphs->evidence,
            "The largest value of 2 of 2 ranks; 66.7 % of this time has no known operator, so "
            "findings about GEMMs and about calls of one shape leave it out");
  EXPECT_NE(summary(r).find(graphs->headline), std::string::npos);
  const Table* ranks = sweep->summary.find("ranks");
  ASSERT_NE(ranks, nullptr);
  EXPECT_NEAR(ranks->at(1, "graph launches (%)").number(), 200 / 3., 1e-9);
  EXPECT_NEAR(ranks->at(1, "without operator (%)").number(), 200 / 3., 1e-9);
  // the results stored on disk have the same values
  const Result<SweepFacts> disk = load_analysed(r.layout.folder());
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->findings, sweep->facts.findings);
  EXPECT_EQ(disk->records.front().graphs.graph_ns, 8000);
  EXPECT_EQ(disk->records.front().graphs.gpu_ns, 12000);
  EXPECT_EQ(disk->records.front().graphs.unattributed_ns, 8000);
}

TEST_F(AnalyzeApp, AnotherContentOfTheGpuArchFileRedoesTheSweep) {
  const std::string in = sweep("s", 1);
  AnalyzeRequest r = request(in, "out");
  r.report.gpu_arch = folder_.path("gpu.json");
  const auto arch = [](int tflops) {
    return R"({"name": "X", "mem_bw_gbps": 5300, "max_achievable_tflops": {"matrix_bf16": )" +
           std::to_string(tflops) + R"(, "matrix_fp16": 700, "matrix_fp32": 100}})";
  };
  put(r.report.gpu_arch, arch(600));
  test::settle();
  Session session;
  auto first = analyze_sweep(session, r);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->redone, 2U);
  const auto again = analyze_sweep(session, r);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->redone, 0U);
  put(r.report.gpu_arch, arch(900)); // the same name and size, and often the same time
  const auto changed = analyze_sweep(session, r);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->redone, 2U);
}

TEST_F(AnalyzeApp, AChangeThatKeepsSizeAndTimeIsNoticed) {
  const std::string in = sweep("s", 1);
  const AnalyzeRequest r = request(in, "out");
  test::settle();
  Session session;
  ASSERT_TRUE(analyze_sweep(session, r));
  const std::string stale = summary(r);
  change_durations(trace(in, 28, 0));
  test::settle();
  const auto again = analyze_sweep(session, r);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->redone, 1U);
  const AnalyzeRequest fresh = request(in, "fresh");
  ASSERT_TRUE(analyze_sweep(session, fresh));
  EXPECT_NE(summary(r), stale);
  EXPECT_EQ(summary(r), summary(fresh));
}

// Another change in the same two seconds might leave the identity of the trace the same.
TEST_F(AnalyzeApp, ATraceThatWasJustWrittenIsReadAgain) {
  const std::string in = sweep("s", 1);
  const AnalyzeRequest r = request(in, "out");
  const std::string written = trace(in, 28, 0);
  test::settle();
  put(written, test::bytes_of(written));
  Session session;
  ASSERT_TRUE(analyze_sweep(session, r));
  const auto again = analyze_sweep(session, r);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->redone, 1U);
}

TEST_F(AnalyzeApp, ATraceReplacedDuringTheRunIsNotTakenForWhatWasRead) {
  const std::string in = sweep("s", 1);
  const std::string other = trace(sweep("t", 2), 28, 0);
  const AnalyzeRequest r = request(in, "out");
  test::settle();
  {
    Interfering session; // one thread: rank 0 is done before the other ranks are read
    bool done = false;
    session.after_a_rank = [&] {
      if (!std::exchange(done, true))
        fs::copy_file(other, trace(in, 28, 0), fs::copy_options::overwrite_existing);
    };
    ASSERT_TRUE(analyze_sweep(session, r));
    EXPECT_TRUE(session.diagnostics.data_lost()); // the data loss is reported
  }
  const std::string stale = summary(r);
  Session session;
  const auto again = analyze_sweep(session, r);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->redone, 1U);
  AnalyzeRequest fresh = request(in, "fresh");
  ASSERT_TRUE(analyze_sweep(session, fresh));
  EXPECT_NE(summary(r), stale);
  EXPECT_EQ(summary(r), summary(fresh));
}

TEST_F(AnalyzeApp, FactsFromDiskSayTheSameAsThoseOfTheRun) {
  const std::string in = sweep("s", 1);
  const AnalyzeRequest r = request(in, "out");
  Session session;
  const auto run = analyze_sweep(session, r);
  ASSERT_TRUE(run);
  const Result<SweepFacts> disk = load_analysed(r.layout.folder());
  ASSERT_TRUE(disk) << disk.error().message();
  EXPECT_EQ(disk->findings, run->facts.findings);
  // encoded as parts, both are equal byte by byte, and so are all tables and pages made from them
  EXPECT_EQ(encode_part("t", 1, disk->gemms), encode_part("t", 1, run->facts.gemms));
  EXPECT_EQ(encode_part("t", 1, disk->records), encode_part("t", 1, run->facts.records));
  ASSERT_FALSE(disk->collectives.empty());
  ASSERT_TRUE(write_sweep_page({{"s", "x", &run->facts}}, folder_.path("a.html")));
  ASSERT_TRUE(write_sweep_page({{"s", "x", &*disk}}, folder_.path("b.html")));
  EXPECT_EQ(test::bytes_of(folder_.path("a.html")), test::bytes_of(folder_.path("b.html")));
}

// The test of three groups needs the bandwidths of the steps, which the state has as samples.
TEST_F(AnalyzeApp, ASlowLinkOfAFewGroupsIsFoundInFactsFromDiskToo) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 6;
  o.layers = 1;
  o.steps = 3;
  o.process_groups = 2;
  o.slow_links = {{4, 5, 3}};
  const std::string in = folder_.path("link");
  ASSERT_TRUE(synth::generate(o, in, 2, nullptr));
  const AnalyzeRequest r = request(in, "out");
  Session session;
  const auto run = analyze_sweep(session, r);
  ASSERT_TRUE(run);
  const Result<SweepFacts> disk = load_analysed(r.layout.folder());
  ASSERT_TRUE(disk) << disk.error().message();
  EXPECT_EQ(disk->findings, run->facts.findings);
  EXPECT_EQ(std::ranges::count(disk->findings, "slow-link", &Finding::rule), 1);
}

TEST_F(AnalyzeApp, AConfigurationThatIsGoneIsNotOnThePage) {
  const std::string in = sweep("s", 1);
  const AnalyzeRequest r = request(in, "out");
  Session session;
  ASSERT_TRUE(analyze_sweep(session, r));
  fs::remove_all(in + "/256thread/nccl_70channels");
  ASSERT_TRUE(analyze_sweep(session, r));
  const Result<SweepFacts> disk = load_analysed(r.layout.folder());
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->records.size(), 2U);
}

TEST_F(AnalyzeApp, ASweepOfAnotherParameterKeepsItsConfigurationsApart) {
  const std::string in = sweep("s", 1);
  const std::string root = folder_.path("protocols");
  // the same threads and channels with two protocols
  for (const char* protocol : {"LL", "Simple"}) {
    const std::string to = root + "/protocol=" + protocol + "/256thread/";
    fs::create_directories(to);
    fs::copy(in + "/256thread/nccl_28channels", to + "nccl_28channels",
             fs::copy_options::recursive);
  }
  const AnalyzeRequest r = request(root, "out");
  test::settle();
  Session session;
  const auto run = analyze_sweep(session, r);
  ASSERT_TRUE(run) << run.error().message();
  ASSERT_EQ(run->configs.size(), 2U);
  std::set<std::string> outputs;
  for (const ConfigResult& config : run->configs)
    for (const std::string& path : config.outputs) {
      EXPECT_TRUE(outputs.insert(path).second) << path << " is written twice";
      EXPECT_TRUE(fs::exists(path)) << path;
    }
  EXPECT_EQ(outputs.size(), 2U * (2 + 1)); // reports of two ranks, and one of collectives
  const auto again = analyze_sweep(session, r);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->redone, 0U);
  EXPECT_EQ(again->configs[0].configuration.text("protocol"), "LL");
  EXPECT_EQ(again->configs[1].configuration.text("protocol"), "Simple");
  EXPECT_EQ(again->configs[1].configuration.channels(), 28);
  const auto rows = configuration_rows(again->facts.records);
  EXPECT_EQ(rows.size(), 2U);
}

TEST_F(AnalyzeApp, WithoutAStateOfThisVersionItSaysWhatToDo) {
  Result<SweepFacts> none = load_analysed(folder_.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(none.error().hint.find("rankscope analyze"), std::string::npos);
  const std::string in = sweep("s", 1);
  const AnalyzeRequest r = request(in, "out");
  Session session;
  ASSERT_TRUE(analyze_sweep(session, r));
  const std::string good = test::bytes_of(r.layout.sweep_state());
  put(r.layout.sweep_state(), encode_part("analyzed sweep", kStateVersion + 1, SweepState{}));
  none = load_analysed(r.layout.folder());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().hint.find("rankscope analyze"), std::string::npos);
  put(r.layout.sweep_state(), good);
  for (const auto& entry : fs::directory_iterator(r.layout.state_folder()))
    if (entry.path().filename() != "sweep.part")
      put(entry.path().string(), test::bytes_of(entry.path().string()).substr(0, 200));
  EXPECT_FALSE(load_analysed(r.layout.folder()));
}

} // namespace
} // namespace rankscope
