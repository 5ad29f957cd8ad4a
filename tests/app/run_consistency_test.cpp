// Tests detection of ranks that are missing, copied, or from another run: each row is a case with
// its sentence. The traces are from generated sweeps and are combined wrongly.
#include "analyses/collectives/run_consistency.h"
#include "app/analyze.h"
#include "app/collectives.h"
#include "app/compare.h"
#include "app/merge.h"
#include "engine/run_ranks.h"
#include "readers/reports/report_tables.h"
#include "sanitized.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <span>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr const char* kRunConsistencyConfig = "/256thread/nccl_28channels/torch_profiler/rank";

synth::Options options_run_consistency(std::uint64_t seed = 1) {
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28};
  o.ranks = 4;
  o.layers = 2;
  o.steps = 4;
  o.seed = seed;
  return o;
}

/// Returns the folder of a sweep that is generated once for all tests of a process.
const std::string& whole_sweep() {
  static const test::TempFolder folder;
  static const std::string path = [] {
    std::string sweep = folder.path("sweep");
    EXPECT_TRUE(synth::generate(options_run_consistency(), sweep, 1, nullptr));
    return sweep;
  }();
  return path;
}

/// A run of four ranks that a test damages, and other runs from which wrong ranks are copied.
class Spoiled {
public:
  Spoiled() {
    for (int r = 0; r < 4; ++r)
      copy_in(file(whole_sweep(), r), r);
  }
  void copy_in(const std::string& from, int rank) const {
    fs::create_directories(run() + "/rank" + std::to_string(rank));
    fs::copy_file(from, at(rank), fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] std::string file(const std::string& sweep, int rank,
                                 const char* config = kRunConsistencyConfig) const {
    return sweep + config + std::to_string(rank) + "/trace_step19.json";
  }
  /// Copies rank `from` of a sweep with other options to rank `rank`.
  void from_other(const synth::Options& other, int from, int rank,
                  const char* config = kRunConsistencyConfig) {
    EXPECT_TRUE(synth::generate(other, folder_.path("other"), 1, nullptr));
    copy_in(file(folder_.path("other"), from, config), rank);
  }
  void drop(int rank) const { fs::remove_all(run() + "/rank" + std::to_string(rank)); }
  void replace(int rank, const std::string& what, const std::string& with) const {
    std::string text = test::bytes_of(at(rank));
    std::size_t found = 0;
    for (std::size_t p = text.find(what); p != std::string::npos;
         p = text.find(what, p + with.size()), ++found)
      text.replace(p, what.size(), with);
    EXPECT_GT(found, 0U) << what;
    folder_.write("run/rank" + std::to_string(rank) + "/t.json", text);
  }
  void no_heads() const {
    for (int r = 0; r < 4; ++r)
      if (fs::exists(at(r)))
        replace(r, "\"distributedInfo\"", "\"somethingElse\"");
  }
  [[nodiscard]] std::string at(int rank) const {
    return run() + "/rank" + std::to_string(rank) + "/t.json";
  }
  /// Returns the configuration from which the run was copied.
  [[nodiscard]] static std::string undamaged() {
    return whole_sweep() + "/256thread/nccl_28channels";
  }
  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  [[nodiscard]] std::string out(const std::string& name) const { return folder_.path(name); }

private:
  test::TempFolder folder_;
};

struct SpoiledCase {
  const char* name;
  std::function<void(Spoiled&)> spoil;
  std::vector<std::string> sentences; ///< beginning of each sentence; empty: no warning, exit 0
};

std::vector<std::string> lines(const Session& session) {
  std::vector<std::string> out;
  for (const Problem& p : session.diagnostics.problems())
    if (p.severity == Severity::kDataLoss)
      out.push_back(p.sentence);
  return out;
}

void expect_lines(const std::vector<std::string>& got, const SpoiledCase& c, const char* command) {
  ASSERT_EQ(got.size(), c.sentences.size())
      << c.name << " " << command << ": " << (got.empty() ? "none" : got.front());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i].substr(0, c.sentences[i].size()), c.sentences[i]) << c.name << " " << command;
}

const SpoiledCase kCases[] = {
    {"whole", [](Spoiled&) {}, {}},
    {"last rank missing", [](Spoiled& s) { s.drop(3); }, {"rank 3 has no trace"}},
    {"last two missing",
     [](Spoiled& s) {
       s.drop(2);
       s.drop(3);
     },
     {"ranks 2, 3 have no trace"}},
    {"one rank of four",
     [](Spoiled& s) {
       for (int r : {1, 2, 3})
         s.drop(r);
     },
     {"ranks 1-3 have no trace: the world has 4 ranks"}},
    {"last rank missing, no header",
     [](Spoiled& s) {
       s.drop(3);
       s.no_heads();
     },
     {"rank 3 has no trace: process groups list them"}},
    {"copy of rank 0 as rank 1",
     [](Spoiled& s) { s.copy_in(s.at(0), 1); },
     {"rank 1 is a copy of rank 0: all "}},
    {"copy without header",
     [](Spoiled& s) {
       s.copy_in(s.at(0), 1);
       s.no_heads();
     },
     {"rank 1 is a copy of rank 0: all "}},
    {"other world size",
     [](Spoiled& s) { s.replace(1, "\"world_size\": 4", "\"world_size\": 2"); },
     {"headers disagree on the world size: 2 on rank 1, 4 on ranks 0, 2, 3"}},
    {"world of 16",
     [](Spoiled& s) {
       for (int r = 0; r < 4; ++r)
         s.replace(r, "\"world_size\": 4", "\"world_size\": 16");
     },
     {"ranks 4-15 have no trace"}},
    {"same rank twice",
     [](Spoiled& s) { s.replace(1, "\"rank\": 1", "\"rank\": 0"); },
     {"the traces of ranks 0, 1 all say that they are rank 0"}},
    {"other configuration",
     [](Spoiled& s) {
       s.copy_in(s.file(whole_sweep(), 1, "/512thread/nccl_28channels/torch_profiler/rank"), 1);
     },
     {"rank 1 launched collectives as [28, 1, 1] x [512, 1, 1], ranks 0, 2, 3 as [28, 1, 1] x "
      "[256, 1, 1]: another configuration"}},
    {"another run",
     [](Spoiled& s) { s.from_other(options_run_consistency(9), 1, 1); },
     {"may belong to another run: rank 1: "}},
    {"NVIDIA run",
     [](Spoiled& s) {
       synth::Options o = options_run_consistency();
       o.nvidia = true;
       s.from_other(o, 1, 1);
     },
     {"rank 1 ran on NVIDIA H100"}},
    {"other groups",
     [](Spoiled& s) { s.replace(1, "[0, 1, 2, 3]", "[0, 1]"); },
     {"rank 1 has ranks 0, 1 in process group 0, which is another group on rank 0"}},
    {"other steps",
     [](Spoiled& s) {
       synth::Options o = options_run_consistency();
       o.shift_window = 2;
       s.from_other(o, 2, 2);
     },
     {"rank 2 recorded the steps 17-19, ranks 0, 1, 3 the steps 16-19"}},
    {"shifted without Seq and steps",
     [](Spoiled& s) {
       synth::Options o = options_run_consistency();
       o.shift_window = 2;
       o.seq = false;
       s.from_other(o, 2, 2);
       for (int r : {0, 1, 3})
         s.copy_in(s.file(s.out("other"), r), r);
       for (int r = 0; r < 4; ++r)
         s.replace(r, "ProfilerStep#", "Iteration#");
     },
     {"rank 2, group 0: its recording starts 5 collectives after that of rank 0; collectives are "
      "matched with this shift"}},
};

/// Returns a request that compares the undamaged run with the damaged run, without plots.
CompareRequest against_undamaged(const Spoiled& spoiled) {
  CompareRequest request;
  request.folders = {spoiled.undamaged(), spoiled.run()};
  request.labels = {"whole", "spoiled"};
  request.output = spoiled.out("compared");
  request.individual = request.page = false; // faster
  request.timeline_workbooks = request.collective_workbooks = request.final_workbook = false;
  return request;
}

/// Returns all cases; under ThreadSanitizer only two, because the other cases use the same threads.
std::span<const SpoiledCase> cases() {
  return std::span(kCases).first(test::kThreadSanitized ? 2 : std::size(kCases));
}

TEST(RunConsistency, EveryCaseHasItsLineInCollectivesAndMerge) {
  for (const SpoiledCase& c : cases()) {
    Spoiled spoiled;
    c.spoil(spoiled);
    Session collectives;
    CollectivesRequest request;
    request.inputs = {spoiled.run()};
    const Result<RunPlan> plan = plan_collectives(collectives, request);
    ASSERT_TRUE(plan) << c.name;
    ASSERT_TRUE(collect_collectives(collectives, *plan, request)) << c.name;
    expect_lines(lines(collectives), c, "collectives");
    EXPECT_EQ(collectives.diagnostics.data_lost(), !c.sentences.empty()) << c.name; // exit code 4
    Session merge;
    const Result<RunPlan> again =
        discover_run({spoiled.run()}, DiscoverOptions{}, merge.diagnostics);
    ASSERT_TRUE(again) << c.name;
    ASSERT_TRUE(merge_run(merge, MergeRequest{}, *again, spoiled.out("m.json"))) << c.name;
    expect_lines(lines(merge), c, "merge");
  }
}

TEST(RunConsistency, EveryCaseHasItsLineInAnalyzeAndCompare) {
  for (const SpoiledCase& c : cases()) {
    Spoiled spoiled;
    c.spoil(spoiled);
    Session analyze;
    AnalyzeRequest request;
    request.folder = spoiled.run();
    request.layout = OutputLayout(spoiled.out("analysis"));
    request.report = sweep_report_options();
    request.plots = false;
    ASSERT_TRUE(analyze_sweep(analyze, request)) << c.name;
    expect_lines(lines(analyze), c, "analyze");
    Session compare;
    ASSERT_TRUE(compare_folders(compare, against_undamaged(spoiled))) << c.name;
    expect_lines(lines(compare), c, "compare");
    EXPECT_EQ(compare.diagnostics.data_lost(), !c.sentences.empty()) << c.name; // exit code 4
  }
}

TEST(RunConsistency, WithoutReportsOfCollectivesCompareFindsTheSame) {
  for (const SpoiledCase& c : cases()) {
    Spoiled spoiled;
    c.spoil(spoiled);
    CompareRequest request = against_undamaged(spoiled);
    request.collective = false;
    Session session;
    ASSERT_TRUE(compare_folders(session, request)) << c.name;
    expect_lines(lines(session), c, "compare");
  }
}

// Clocks are also measured if they are not aligned.
TEST(RunConsistency, AnotherRunIsFoundWhateverTheAlignment) {
  const SpoiledCase& c =
      *std::find_if(std::begin(kCases), std::end(kCases), [](const SpoiledCase& spoiled_case) {
        return spoiled_case.name == std::string_view("another run");
      });
  for (const AlignMode align : {AlignMode::kNone, AlignMode::kBase}) {
    Spoiled spoiled;
    c.spoil(spoiled);
    Session collectives;
    CollectivesRequest request;
    request.inputs = {spoiled.run()};
    request.options.align = align;
    const Result<RunPlan> plan = plan_collectives(collectives, request);
    ASSERT_TRUE(plan);
    ASSERT_TRUE(collect_collectives(collectives, *plan, request));
    expect_lines(lines(collectives), c, "collectives");
    CompareRequest against = against_undamaged(spoiled);
    against.align = align;
    Session compare;
    ASSERT_TRUE(compare_folders(compare, against));
    expect_lines(lines(compare), c, "compare");
  }
}

// If both runs of a comparison are the same run, each run has a separate warning.
TEST(RunConsistency, BothSidesOfACompareAreNamed) {
  Spoiled spoiled;
  spoiled.drop(3);
  spoiled.copy_in(spoiled.at(0), 1);
  CompareRequest request = against_undamaged(spoiled);
  request.folders = {spoiled.run(), spoiled.run()};
  Session session;
  ASSERT_TRUE(compare_folders(session, request));
  const auto copies = [&session] {
    std::size_t n = 0;
    for (const Problem& p : session.diagnostics.problems())
      n += p.sentence.rfind("rank 1 is a copy of rank 0", 0) == 0 ? 1 : 0;
    return n;
  };
  EXPECT_EQ(copies(), 2U);
}

TEST(RunConsistency, CompareAlignsTheClocksAsAsked) {
  const test::TempFolder folder;
  synth::Options o = options_run_consistency();
  o.clock_offset_us = 5000;
  o.channels = {28};
  o.threads = {256};
  ASSERT_TRUE(synth::generate(o, folder.path("s"), 1, nullptr));
  const std::string run = folder.path("s") + "/256thread/nccl_28channels";
  const auto skew_us = [&](AlignMode align, const std::string& out) {
    CompareRequest request;
    request.folders = {run, run};
    request.labels = {"a", "b"};
    request.output = folder.path(out);
    request.page = false;
    request.align = align;
    Session session;
    EXPECT_TRUE(compare_folders(session, request));
    const Result<Report> report =
        read_report_tables(request.output + "/a/collective_reports/collective_all_ranks.xlsx");
    EXPECT_TRUE(report);
    const Table* rows = report->find("nccl_summary_implicit_sync");
    double most = 0;
    for (std::size_t r = 0; r < rows->rows(); ++r)
      most = std::max(most, rows->at(r, "skew in start time_mean").number());
    return std::pair(most, report->find("clocks") != nullptr);
  };
  const auto base = skew_us(AlignMode::kBase, "base");
  const auto aligned = skew_us(AlignMode::kCollectives, "collectives");
  EXPECT_FALSE(base.second);
  EXPECT_TRUE(aligned.second);
  EXPECT_GT(std::abs(base.first - aligned.first), 100) << "offsets of up to 5000 us";
}

TEST(RunConsistency, AChoiceOfRanksMissesNoOthers) {
  Spoiled spoiled;
  Session merge;
  const Result<RunPlan> plan = discover_run({spoiled.run()}, DiscoverOptions{}, merge.diagnostics);
  ASSERT_TRUE(plan);
  MergeRequest request;
  request.ranks = {0, 2};
  ASSERT_TRUE(merge_run(merge, request, *plan, spoiled.out("m.json")));
  EXPECT_TRUE(lines(merge).empty());
}

// Values that are calculated from fewer members than the group has are blank.
TEST(RunConsistency, BandwidthsAndWaitsOfIncompleteCollectivesAreBlank) {
  Spoiled spoiled;
  spoiled.drop(3);
  Session session;
  CollectivesRequest request;
  request.inputs = {spoiled.run()};
  const auto plan = plan_collectives(session, request);
  ASSERT_TRUE(plan);
  const auto result = collect_collectives(session, *plan, request);
  ASSERT_TRUE(result);
  const Table* rows = result->report.find("nccl_implicit_sync");
  ASSERT_NE(rows, nullptr);
  ASSERT_GT(rows->rows(), 0U);
  for (std::size_t r = 0; r < rows->rows(); ++r) {
    for (const char* column : {"skew in start time", "avg_wait_time", "rank_0_wait_time"})
      EXPECT_TRUE(rows->at(r, column).is_null()) << column;
    EXPECT_TRUE(std::isnan(rows->at(r, "bus bw (GB/s)").number()));
    EXPECT_GT(rows->at(r, "comm_latency").number(), 0);
  }
  EXPECT_EQ(result->report.find("straggler_summary"), nullptr);
}

// The profiler lists only 30 members of a group. The other members are not reported as foreign
// ranks.
TEST(RunConsistency, RanksBehindTheThirtiethBelongToTheirGroup) {
  test::TempFolder folder;
  synth::Options o = options_run_consistency();
  o.threads = {256};
  o.ranks = 40;
  o.layers = 1;
  o.steps = 2;
  o.only_ranks = {{28, 39}};
  ASSERT_TRUE(synth::generate(o, folder.path("sweep"), 2, nullptr));
  Session session;
  CollectivesRequest request;
  request.inputs = {folder.path("sweep") + "/256thread/nccl_28channels"};
  for (int r = 28; r < 40; ++r) {
    const std::string path =
        request.inputs[0] + "/torch_profiler/rank" + std::to_string(r) + "/trace_step19.json";
    std::string text = test::bytes_of(path);
    text.replace(text.find("distributedInfo"), 15, "somethingElse__");
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  const auto plan = plan_collectives(session, request);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(collect_collectives(session, *plan, request));
  for (const Problem& p : session.diagnostics.problems())
    EXPECT_EQ(p.sentence.find("none of its process groups"), std::string::npos) << p.sentence;
}

// "merge -n 8" selects the ranks below 8; missing ranks are named once.
TEST(RunConsistency, RanksThatWereAskedForAndAreAbsentAreNamedOnce) {
  Spoiled spoiled;
  spoiled.drop(1);
  Session merge;
  const Result<RunPlan> plan = discover_run({spoiled.run()}, DiscoverOptions{}, merge.diagnostics);
  ASSERT_TRUE(plan);
  MergeRequest request;
  request.ranks = {0, 1, 2, 3, 4, 5};
  ASSERT_TRUE(merge_run(merge, request, *plan, spoiled.out("m.json")));
  EXPECT_EQ(lines(merge),
            (std::vector<std::string>{"rank 1 has no trace", "ranks 4, 5 have no trace"}));
}

} // namespace
} // namespace rankscope
