// Tests partial and reduce: from parts of several processes, the outputs are byte for byte those of
// one process. Also tests messages about missing, damaged, foreign or duplicate parts.
#include "output_trees.h"
#include "run_binary.h"
#include "settle.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// Compares partial and reduce with one process on a generated sweep of four ranks.
using Words = std::vector<std::string>;

class Partial : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.ranks = 4;
    o.channels = {28, 42};
    o.clock_offset_us = 300;
    ASSERT_TRUE(synth::generate(o, sweep_, 1, {}));
  }

  [[nodiscard]] std::string out(const std::string& name) const { return folder_.path(name); }

  /// Makes the parts of `input` with this number of shards.
  Words make_parts(const std::string& input, const std::string& parts, int shards,
                   const Words& more = {}) const {
    Words said;
    for (int i = 0; i < shards; ++i) {
      Words args = {"partial", input, "-o", parts, "--shard", fmt::format("{}/{}", i, shards)};
      args.insert(args.end(), more.begin(), more.end());
      const RunResult r = run_binary(args);
      EXPECT_EQ(r.code, 0) << r.err;
      said.push_back(r.err);
    }
    return said;
  }

  /// Reduces from 1 and from 4 shards, and expects the outputs of `direct`, which has already run.
  /// Outputs may contain their own path, so the path is the same.
  void expect_same(const RunResult& direct, const std::string& path, const std::string& input,
                   const std::string& as, const std::string& ending) {
    fs::create_directories(out("kept"));
    const std::string kept = out("kept/") + fs::path(path).filename().string();
    fs::rename(path, kept);
    for (const int shards : {1, 4}) {
      const std::string parts = out(fmt::format("parts_{}_{}", as, shards));
      make_parts(input, parts, shards, {"--for", as});
      const RunResult reduced = run_binary({"reduce", parts, "--as", as, "-o", path});
      EXPECT_EQ(reduced.code, direct.code) << reduced.err;
      EXPECT_EQ(notes(reduced.err), notes(direct.err)) << shards;
      EXPECT_EQ(reduced.out, direct.out) << shards;
      expect_equal(kept, path, ending);
      fs::remove_all(path);
    }
  }

  static void expect_equal(const std::string& direct, const std::string& reduced,
                           const std::string& ending) {
    if (!ending.empty()) {
      EXPECT_EQ(test::bytes_of(direct), test::bytes_of(reduced)) << reduced;
      return;
    }
    const std::map<std::string, std::string> want = test::files_below(direct),
                                             got = test::files_below(reduced);
    EXPECT_GT(want.size(), 3U);
    for (const auto& [name, content] : want) {
      ASSERT_EQ(got.count(name), 1U) << name;
      EXPECT_TRUE(content == got.at(name)) << name;
    }
    EXPECT_EQ(want.size(), got.size());
  }

  /// Returns the lines of stderr about the data, in their order.
  static Words notes(const std::string& err) {
    Words out;
    for (std::size_t at = 0; at < err.size();) {
      const std::size_t end = std::min(err.find('\n', at), err.size());
      const std::string line = err.substr(at, end - at);
      if (line.find(" traces, ") == std::string::npos) // a progress line
        out.push_back(line);
      at = end + 1;
    }
    return out;
  }

  const test::TempFolder folder_;
  const std::string sweep_ = folder_.path("sweep");
  const std::string run_ = test::config_folder(sweep_);
};

TEST_F(Partial, CollectivesAreThoseOfOneProcess) {
  for (const char* const ending : {".json", ".xlsx"}) {
    const std::string direct = out(std::string("direct") + ending);
    const RunResult r = run_binary({"collectives", run_, "-o", direct});
    ASSERT_EQ(r.code, 0) << r.err;
    expect_same(r, direct, run_, "collectives", ending);
  }
}

TEST_F(Partial, ASweepIsAnalysedAsByOneProcess) {
  const std::string direct = out("out");
  const RunResult r = run_binary({"analyze", sweep_, "-o", direct, "--no-merge"});
  ASSERT_EQ(r.code, 0) << r.err;
  expect_same(r, direct, sweep_, "analyze", "");
}

/// If plots cannot be written, only the plots are missing.
TEST_F(Partial, AnAnalysisWithoutItsPlotsIsShownAllTheSame) {
  make_parts(run_, out("parts"), 2, {"--for", "analyze"});
  std::vector<RunResult> said;
  for (const Words& args :
       {Words{"analyze", run_, "--no-merge"}, Words{"reduce", out("parts"), "--as", "analyze"}}) {
    fs::remove_all(out("out"));
    fs::create_directories(out("out"));
    std::ofstream(out("out/plots")) << "no folder";
    Words all = args;
    all.insert(all.end(), {"-o", out("out")});
    said.push_back(run_binary(all));
    EXPECT_TRUE(fs::exists(out("out/summary.md")));
  }
  EXPECT_EQ(said[0].code, 6) << said[0].err;
  EXPECT_EQ(said[1].code, said[0].code) << said[1].err;
  EXPECT_EQ(notes(said[1].err), notes(said[0].err));
  EXPECT_EQ(said[1].out, said[0].out);
}

TEST_F(Partial, APageIsThatOfOneProcess) {
  for (const std::string& input : {run_, sweep_}) {
    fs::create_directories(out("pages"));
    const std::string direct = out("pages/page.html");
    const RunResult r = run_binary({"page", input, "-o", direct});
    if (r.code == 7)
      GTEST_SKIP() << "a build without ECharts";
    ASSERT_EQ(r.code, 0) << r.err;
    for (const int shards : {1, 4}) {
      const std::string parts = out(fmt::format("parts_page_{}_{}", shards, input.size()));
      make_parts(input, parts, shards, {"--for", "page"});
      const std::string before = test::bytes_of(direct);
      const RunResult reduced = run_binary({"reduce", parts, "--as", "page", "-o", direct});
      EXPECT_EQ(reduced.code, 0) << reduced.err;
      EXPECT_TRUE(test::bytes_of(direct) == before) << input << " of " << shards;
    }
  }
}

TEST_F(Partial, RunsAreComparedAsByOneProcess) {
  const std::string other = test::config_folder(sweep_, 42);
  const std::string direct = out("out");
  const RunResult r =
      run_binary({"compare", "--baseline", run_, "--test", other, "--output", direct});
  ASSERT_EQ(r.code, 0) << r.err;
  make_parts(run_, out("a"), 3, {"--for", "compare"});
  make_parts(other, out("b"), 4, {"--for", "compare"});
  fs::create_directories(out("again"));
  const RunResult reduced = run_binary({"reduce", "--as", "compare", "--baseline", out("a"),
                                        "--test", out("b"), "-o", out("again/out")});
  EXPECT_EQ(reduced.code, 0) << reduced.err;
  EXPECT_EQ(notes(reduced.err), notes(r.err));
  expect_equal(direct, out("again/out"), "");

  const std::string page = out("page.html");
  const RunResult shown =
      run_binary({"page", "--baseline", run_, "--test", other, "--labels", "x,y", "-o", page});
  if (shown.code == 7)
    GTEST_SKIP() << "a build without ECharts";
  ASSERT_EQ(shown.code, 0) << shown.err;
  const std::string bytes = test::bytes_of(page);
  Words args = {"reduce", "--as",     "page", "--baseline", out("a"), "--test",
                out("b"), "--labels", "x,y",  "-o",         page};
  const RunResult again = run_binary(args);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(test::bytes_of(page) == bytes);
  args.erase(args.begin() + 5, args.begin() + 7);
  const RunResult half = run_binary(args);
  EXPECT_EQ(half.code, 2) << half.err;
  EXPECT_NE(half.err.find("needs --baseline and --test, and no other input"), std::string::npos)
      << half.err;
}

/// As in a CI pipeline: the parts of a new run are compared with a saved baseline.
TEST_F(Partial, PartsAreComparedWithASavedBaseline) {
  const std::string other = test::config_folder(sweep_, 42), kept = out("kept.rsb");
  ASSERT_EQ(run_binary({"baseline", "save", run_, "-o", kept}).code, 0);
  const RunResult r = run_binary(
      {"compare", "--baseline", kept, "--test", other, "--output", out("out"), "--no-plots"});
  ASSERT_EQ(r.code, 0) << r.err;
  make_parts(other, out("b"), 3, {"--for", "compare"});
  fs::create_directories(out("again"));
  const RunResult reduced = run_binary({"reduce", "--as", "compare", "--baseline", kept, "--test",
                                        out("b"), "-o", out("again/out"), "--no-plots"});
  EXPECT_EQ(reduced.code, 0) << reduced.err;
  expect_equal(out("out"), out("again/out"), "");
}

/// Recorded traces of real programs, with two and with four ranks.
TEST_F(Partial, RealRunsToo) {
  const fs::path golden = test::golden_dir();
  if (!fs::is_directory(golden / "hta"))
    GTEST_SKIP() << "the reference data of real runs is absent (RANKSCOPE_GOLDEN names its folder)";
  fs::create_directories(out("pair"));
  for (const char* name : {"sampled_rank-0.json.gz", "sampled_rank-1.json.gz"})
    fs::copy_file(golden / "hta" / name, out("pair/") + name);
  fs::copy(golden / "batch/profiles/013_profile_544p_bs1", out("four"));
  for (const std::string& input : {out("pair"), out("four")}) {
    const std::string name = fs::path(input).filename().string();
    const std::string report = out(name + ".json"), sweep = out(name + "_swept"),
                      compared = out(name + "_compared");
    const RunResult r = run_binary({"collectives", input, "-o", report});
    const RunResult a = run_binary({"analyze", input, "-o", sweep, "--no-merge", "--no-plots"});
    const RunResult c = run_binary(
        {"compare", "--baseline", input, "--test", input, "--output", compared, "--no-plots"});
    const std::string parts = out(name + "_parts");
    for (int i = 0; i < 3; ++i)
      run_binary(
          {"partial", input, "-o", parts, "--for", "all", "--shard", fmt::format("{}/3", i)});
    const std::string again = out("again_" + name);
    fs::create_directories(again);
    const RunResult r2 = run_binary({"reduce", parts, "-o", again + "/" + name + ".json"});
    EXPECT_EQ(r2.code, r.code) << r2.err;
    EXPECT_EQ(notes(r2.err), notes(r.err));
    if (r.code == 0 || r.code == 4)
      expect_equal(report, again + "/" + name + ".json", ".json");
    const RunResult a2 =
        run_binary({"reduce", parts, "--as", "analyze", "-o", again + "/s", "--no-plots"});
    EXPECT_EQ(a2.code, a.code) << a2.err;
    EXPECT_EQ(notes(a2.err), notes(a.err));
    expect_equal(sweep, again + "/s", "");
    const RunResult c2 = run_binary({"reduce", "--as", "compare", "--baseline", parts, "--test",
                                     parts, "-o", again + "/c", "--no-plots"});
    EXPECT_EQ(c2.code, c.code) << c2.err;
    EXPECT_EQ(notes(c2.err), notes(c.err));
    expect_equal(compared, again + "/c", "");
  }
}

/// A rank is missing and a trace is truncated: the messages and the exit code are the same.
TEST_F(Partial, WhatIsWrongWithTracesIsSaidAsByOneProcess) {
  std::vector<std::string> traces;
  for (const auto& entry : fs::recursive_directory_iterator(run_))
    if (entry.is_regular_file())
      traces.push_back(entry.path().string());
  std::sort(traces.begin(), traces.end());
  ASSERT_EQ(traces.size(), 4U);
  fs::remove(traces[1]);
  fs::resize_file(traces[2], fs::file_size(traces[2]) / 2);
  std::ofstream(traces[3], std::ios::trunc) << "{\"traceEvents\": 3}";
  const std::string direct = out("direct.json");
  const RunResult r = run_binary({"collectives", run_, "-o", direct});
  EXPECT_EQ(r.code, 4) << r.err;
  for (const int shards : {1, 4}) {
    const std::string parts = out(fmt::format("parts{}", shards));
    for (int i = 0; i < shards; ++i)
      run_binary({"partial", run_, "-o", parts, "--for", "collectives", "--shard",
                  fmt::format("{}/{}", i, shards)});
    fs::create_directories(parts + "_out");
    const RunResult reduced = run_binary({"reduce", parts, "-o", parts + "_out/direct.json"});
    EXPECT_EQ(reduced.code, 4) << reduced.err;
    EXPECT_EQ(notes(reduced.err), notes(r.err));
    EXPECT_EQ(test::bytes_of(direct), test::bytes_of(parts + "_out/direct.json"));
  }
}

/// Each node has its own ranks in a folder with the same name.
TEST_F(Partial, NodesWithTheirOwnFoldersMakeOneRun) {
  const std::string direct = out("direct.json");
  const std::string swept = out("swept"), page = out("page.html");
  ASSERT_EQ(run_binary({"collectives", run_, "-o", direct}).code, 0);
  ASSERT_EQ(run_binary({"analyze", run_, "-o", swept, "--no-merge", "--no-plots"}).code, 0);
  const bool pages = run_binary({"page", run_, "-o", page}).code == 0; // 7: without ECharts
  const std::string shown = test::bytes_of(page);
  const std::map<std::string, std::string> tables = test::files_below(swept);
  fs::remove_all(swept);
  std::vector<std::string> traces;
  for (const auto& entry : fs::recursive_directory_iterator(run_))
    if (entry.is_regular_file())
      traces.push_back(fs::relative(entry.path(), run_).string());
  ASSERT_EQ(traces.size(), 4U);
  const std::string all = run_ + "_all";
  fs::rename(run_, all);
  for (int node = 0; node < 2; ++node) {
    fs::remove_all(run_);
    for (std::size_t i = 0; i < traces.size(); ++i)
      if (static_cast<int>(i % 2) == node) {
        const fs::path to = fs::path(run_) / traces[i];
        fs::create_directories(to.parent_path());
        fs::copy_file(fs::path(all) / traces[i], to);
      }
    const RunResult r = run_binary({"partial", run_, "--local", "-o", out(fmt::format("p{}", node)),
                                    "--for", "all", "--shard", fmt::format("{}/2", node)});
    EXPECT_EQ(r.code, 0) << r.err;
  }
  fs::remove_all(run_); // reduce reads no traces
  fs::create_directories(out("again"));
  const RunResult r = run_binary({"reduce", out("p0"), out("p1"), "-o", out("again/direct.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(direct), test::bytes_of(out("again/direct.json")));
  const RunResult a =
      run_binary({"reduce", out("p0"), out("p1"), "--as", "analyze", "-o", swept, "--no-plots"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_TRUE(test::files_below(swept) == tables);
  if (pages) {
    EXPECT_EQ(run_binary({"reduce", out("p0"), out("p1"), "--as", "page", "-o", page}).code, 0);
    EXPECT_TRUE(test::bytes_of(page) == shown);
  }
}

TEST_F(Partial, ASecondRunMakesOnlyWhatIsMissing) {
  const std::string parts = out("parts");
  test::settle();
  // not a workbook, because it contains the time of its creation
  const Words page = {"--for", "page"};
  make_parts(run_, parts, 1, page);
  const std::map<std::string, std::string> first = test::files_below(parts);
  ASSERT_EQ(first.size(), 5U); // four ranks and the shard
  Words said = make_parts(run_, parts, 1, page);
  EXPECT_NE(said.front().find("4 ranks (4 reused)"), std::string::npos) << said.front();
  std::string gone, cut;
  for (const auto& [name, content] : first)
    if (name.starts_with("rank")) {
      cut = gone;
      gone = name;
    }
  fs::remove(parts + "/" + gone);
  fs::resize_file(parts + "/" + cut, fs::file_size(parts + "/" + cut) - 1);
  said = make_parts(run_, parts, 1, page);
  EXPECT_NE(said.front().find("4 ranks (2 reused)"), std::string::npos) << said.front();
  EXPECT_TRUE(test::files_below(parts) == first);
  said = make_parts(run_, parts, 1,
                    {"--for", "page", "--gpu-arch", "MI300X"}); // other options need other parts
  EXPECT_NE(said.front().find("4 ranks (0 reused)"), std::string::npos) << said.front();
}

class PartialFaults : public Partial {
protected:
  void SetUp() override {
    Partial::SetUp();
    make_parts(run_, out("parts"), 2, {"--for", "collectives"});
    for (const auto& entry : fs::directory_iterator(out("parts")))
      if (const std::string name = entry.path().filename(); name.starts_with("rank"))
        parts_.push_back(entry.path().string());
    std::sort(parts_.begin(), parts_.end());
    ASSERT_EQ(parts_.size(), 4U);
  }

  /// Runs reduce; expects this sentence, this exit code and this number of ranks.
  void expect_said(const std::string& sentence, int code, int ranks,
                   const Words& folders = {}) const {
    Words args = {"reduce", out("parts")};
    args.insert(args.end(), folders.begin(), folders.end());
    args.insert(args.end(), {"-o", out("nccl.json")});
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(sentence), std::string::npos) << r.err;
    EXPECT_NE(r.out.find(fmt::format(" sheets, {} ranks", ranks)), std::string::npos)
        << r.out << r.err;
  }

  /// Writes the trace of a rank again with other times; returns its path.
  fs::path rewrite_rank(int rank) const {
    fs::path trace;
    for (const auto& entry : fs::recursive_directory_iterator(run_))
      if (entry.is_regular_file() &&
          entry.path().string().find("rank" + std::to_string(rank)) != std::string::npos)
        trace = entry.path();
    std::string text = test::bytes_of(trace.string());
    for (std::size_t at = text.find("\"dur\": "); at != std::string::npos;
         at = text.find("\"dur\": ", at + 1))
      text.insert(at + 7, "1");
    std::ofstream(trace, std::ios::binary) << text;
    return trace;
  }

  [[nodiscard]] std::string shard(int i) const {
    return out(fmt::format("parts/shard_{}_of_2.part", i));
  }

  std::vector<std::string> parts_; ///< the parts of the ranks
};

TEST_F(PartialFaults, APartThatIsAbsent) {
  fs::remove(parts_[1]);
  expect_said("its part " + fs::path(parts_[1]).filename().string() + " is missing", 4, 3);
}

TEST_F(PartialFaults, APartThatIsCutOff) {
  fs::resize_file(parts_[1], fs::file_size(parts_[1]) - 5);
  expect_said("its checksum is wrong (truncated or damaged?)", 4, 3);
}

TEST_F(PartialFaults, APartOfAnotherFormat) {
  std::string bytes = test::bytes_of(parts_[1]);
  bytes[7] = '2';
  std::ofstream(parts_[1], std::ios::binary) << bytes;
  expect_said("it does not begin with RSKPART1", 4, 3);
}

TEST_F(PartialFaults, APartWithOtherOptions) {
  make_parts(run_, out("other"), 1, {"--for", "page"});
  fs::copy_file(out("other/" + fs::path(parts_[1]).filename().string()), parts_[1],
                fs::copy_options::overwrite_existing);
  expect_said("was made with other options", 4, 3);
}

TEST_F(PartialFaults, AShardThatLeftNothing) {
  fs::remove(shard(1));
  expect_said("shard 1 of 2 wrote no parts", 4, 4); // the parts of its ranks were complete
  fs::remove(parts_[1]);
  fs::remove(parts_[3]);
  expect_said("shard 1 of 2 wrote no parts", 4, 2);
  // HA-D15: the ranks of the shard are reported in one line
  expect_said("ranks 1, 3 without a part: shard 1 of 2 wrote no parts", 4, 2);
  const RunResult r = run_binary({"reduce", out("parts"), "-o", out("nccl.json")});
  EXPECT_EQ(r.err.find("is missing"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("MB/s"), std::string::npos) << "parts are no traces\n" << r.err;
}

// partial and reduce have the same default; the parts of other commands are 25 times as large.
TEST_F(Partial, WithoutForPartsAreThoseOfCollectives) {
  make_parts(run_, out("parts"), 1);
  EXPECT_EQ(run_binary({"reduce", out("parts"), "-o", out("nccl.json")}).code, 0);
  for (const char* as : {"page", "analyze"}) {
    const RunResult r = run_binary({"reduce", out("parts"), "--as", as, "-o", out("x.html")});
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(std::string("rankscope partial --for ") + as), std::string::npos) << r.err;
  }
}

TEST_F(PartialFaults, AShardThatIsCutOff) {
  fs::resize_file(shard(1), fs::file_size(shard(1)) / 2);
  expect_said("the file of a shard is left out: not a valid part: its checksum is wrong", 4, 4);
}

TEST_F(PartialFaults, TheSameRanksTwice) {
  fs::copy(out("parts"), out("copy"));
  expect_said("", 0, 4, {out("copy")});
}

TEST_F(PartialFaults, ARankTwiceWithOtherContent) {
  fs::create_directories(out("other"));
  const std::string name = fs::path(parts_[1]).filename().string();
  rewrite_rank(1); // between the two runs of partial
  make_parts(run_, out("other"), 2, {"--for", "collectives"});
  expect_said("is left out: its trace ", 4, 4, {out("other")});
}

// A node died in the second run in the same folder: its parts in the folder are from traces that
// have been replaced.
TEST_F(PartialFaults, APartOfATraceThatWasWrittenSinceIsNotUsed) {
  const fs::path trace = rewrite_rank(1);
  // shard 0 has ranks 0 and 2; shard 1, which has rank 1, does not finish
  ASSERT_EQ(
      run_binary({"partial", run_, "-o", out("parts"), "--shard", "0/2", "--for", "collectives"})
          .code,
      0);
  expect_said("was made before its trace " + trace.string(), 4, 3);
}

// Two jobs with different numbers of processes, one after the other.
TEST_F(PartialFaults, TheNewestCompleteShardsAreUsed) {
  make_parts(run_, out("parts"), 3, {"--for", "collectives"});
  expect_said("the 3 current shards contain everything in it", 0, 4);
  make_parts(run_, out("parts"), 2, {"--for", "collectives"});
  expect_said("the 2 current shards contain everything in it", 0, 4);
}

// Nodes with separate disks whose folders have the same name, without --local.
TEST_F(PartialFaults, RanksThatANewerOneDoesNotHaveAreNoEarlierOnes) {
  const auto alone = [&](const Words& ranks, const char* shards) {
    fs::rename(run_, run_ + "_all");
    fs::create_directories(run_ + "/torch_profiler");
    for (const std::string& rank : ranks)
      fs::copy(run_ + "_all/torch_profiler/" + rank, run_ + "/torch_profiler/" + rank,
               fs::copy_options::recursive);
    EXPECT_EQ(
        run_binary({"partial", run_, "-o", out("nodes"), "--shard", shards, "--for", "collectives"})
            .code,
        0);
    fs::remove_all(run_);
    fs::rename(run_ + "_all", run_);
  };
  alone({"rank0", "rank1"}, "0/1");
  fs::rename(out("nodes/shard_0_of_1.part"), out("nodes/shard_0_of_1_of_a.part"));
  alone({"rank2", "rank3"}, "0/1");
  const RunResult r = run_binary({"reduce", out("nodes"), "-o", out("nccl.json")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("nodes with separate folders need partial --local"), std::string::npos)
      << r.err;
}

TEST_F(PartialFaults, PartsOfAnotherRun) {
  make_parts(test::config_folder(sweep_, 42), out("other"), 3, {"--for", "collectives"});
  fs::remove(out("other/shard_2_of_3.part"));
  expect_said("its traces, options or shards differ from those of the 2 of 2 shards", 4, 4,
              {out("other")});
}

TEST_F(PartialFaults, ShardsThatSawOtherFolders) {
  make_parts(run_, out("other"), 2, {"--for", "collectives"});
  const std::string second = "other/shard_1_of_2.part";
  fs::remove(out(second));
  for (const auto& entry : fs::recursive_directory_iterator(run_))
    if (entry.path().string().find("rank3") != std::string::npos && entry.is_regular_file())
      fs::remove(entry.path());
  EXPECT_EQ(
      run_binary({"partial", run_, "-o", out("other"), "--for", "collectives", "--shard", "1/2"})
          .code,
      0);
  const RunResult r = run_binary({"reduce", out("other"), "-o", out("nccl.json")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("nodes with separate folders need partial --local"), std::string::npos)
      << r.err;
}

TEST_F(PartialFaults, TwoNodesWithTheSameRank) {
  fs::copy(run_, out("node1"), fs::copy_options::recursive);
  fs::remove_all(out("parts"));
  const std::string other = fs::path(out("node1")).string();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run_binary({"partial", i == 0 ? run_ : other, "--local", "-o", out("parts"), "--for",
                          "collectives", "--shard", fmt::format("{}/2", i)})
                  .code,
              0);
  expect_said("rank 3: another shard has a trace of this rank, ", 4, 4);
}

/// Nodes with two ranks each on separate disks.
class PartialLocal : public PartialFaults {
protected:
  void SetUp() override {
    PartialFaults::SetUp();
    for (int r = 0; r < 4; ++r) {
      const std::string to = node(r / 2) + "/rank" + std::to_string(r);
      fs::create_directories(to);
      fs::copy(run_ + "/torch_profiler/rank" + std::to_string(r), to, fs::copy_options::recursive);
    }
  }
  [[nodiscard]] std::string node(int i) const { return out("node" + std::to_string(i)); }
  [[nodiscard]] RunResult partial(const std::string& folder, int i, const Words& more = {}) const {
    Words args = {"partial", folder,      "--local", "--shard", fmt::format("{}/2", i),
                  "-o",      out("local")};
    args.insert(args.end(), more.begin(), more.end());
    return run_binary(args);
  }
};

TEST_F(PartialLocal, WhatANodeHadFinishedBeforeItDiedIsUsed) {
  ASSERT_EQ(partial(node(0), 0).code, 0);
  // the other ranks are on the other node
  ASSERT_EQ(partial(node(1), 1, {"--require-all-ranks"}).code, 0);
  RunResult r = run_binary({"reduce", out("local"), "-o", out("whole.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  fs::remove(out("local/shard_1_of_2.part"));
  r = run_binary({"reduce", out("local"), "-o", out("rest.json")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(
      r.err.find("shard 1 of 2 wrote no parts; 2 ranks that this shard had completed are used"),
      std::string::npos)
      << r.err;
  EXPECT_NE(r.out.find(" sheets, 4 ranks"), std::string::npos) << r.out;
  r = run_binary({"reduce", out("local"), "-o", out("none.json"), "--require-all-ranks"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("shard 1 of 2 wrote no parts\n"), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(out("none.json")));
  // the shard file of node 1 is gone, and only one of its two ranks still has a part
  for (const auto& entry : fs::directory_iterator(out("local")))
    if (entry.path().filename().string().starts_with("rank3_"))
      fs::remove(entry.path());
  r = run_binary({"reduce", out("local"), "-o", out("rest.json")});
  EXPECT_NE(r.err.find("; 1 rank that this shard had completed is used"), std::string::npos)
      << r.err;
}

TEST_F(PartialLocal, AllRanksMayBeRequiredOfAllNodesTogether) {
  const auto reduce = [&](const Words& more) {
    Words args = {"reduce", out("local"), "-o", out("local.json")};
    args.insert(args.end(), more.begin(), more.end());
    return run_binary(args);
  };
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(partial(node(i), i).code, 0);
  EXPECT_EQ(reduce({"--require-all-ranks"}).code, 0);
  fs::remove_all(node(1) + "/rank2");
  fs::remove_all(out("local"));
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(partial(node(i), i).code, 0);
  EXPECT_EQ(reduce({}).code, 4);
  const RunResult r = reduce({"--require-all-ranks"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_NE(r.err.find("rank 2 has no trace"), std::string::npos) << r.err;
}

TEST_F(PartialLocal, FoldersOfOneRunMayBeCalledOtherwise) {
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(partial(node(i), i, {"--for", "page"}).code, 0);
  const RunResult r = run_binary({"reduce", out("local"), "--as", "page", "-o", out("page.html")});
  if (test::lacks_web_parts(r))
    GTEST_SKIP() << r.err;
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find(": 4 ranks, "), std::string::npos) << r.err;
}

TEST_F(PartialLocal, TracesOfTwoNodesThatAreCalledTheSameDoNotReplaceEachOther) {
  fs::create_directory_symlink(node(0), out("here"));
  ASSERT_EQ(partial(out("here"), 0).code, 0);
  fs::remove(out("here"));
  fs::rename(node(1) + "/rank2", node(1) + "/rank0"); // both nodes have a folder rank0
  fs::create_directory_symlink(node(1), out("here"));
  const RunResult r = partial(out("here"), 1);
  EXPECT_EQ(r.code, 6) << r.err;
  EXPECT_NE(r.err.find("belongs to shard 0: another node also has a trace with the path "),
            std::string::npos)
      << r.err;
  EXPECT_NE(r.err.find("use a separate folder of parts for each node"), std::string::npos) << r.err;
}

TEST_F(PartialFaults, AGpuThatNobodyKnowsIsSaidBeforeAnythingIsRead) {
  const RunResult r = run_binary({"partial", run_, "-o", out("typo"), "--gpu-arch", "MI300Y"});
  EXPECT_EQ(r.code, 3) << r.err; // as in report
  EXPECT_NE(r.err.find("rankscope: MI300Y: no such file and no built-in GPU"), std::string::npos)
      << r.err;
}

TEST_F(PartialFaults, AnotherRunInTheSameFolderIsSaid) {
  const std::string other = test::config_folder(sweep_, 42);
  const RunResult r =
      run_binary({"partial", other, "-o", out("parts"), "--shard", "0/2", "--for", "collectives"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("was made from " + run_ + "; its parts in this folder are no longer used"),
            std::string::npos)
      << r.err;
}

// The parts were made from other traces than those in the folder now, so analyze reads the traces.
TEST_F(PartialFaults, AnalyzeTakesNothingOfPartsOfOtherTraces) {
  make_parts(run_, out("both"), 1, {"--for", "analyze"});
  rewrite_rank(1);
  ASSERT_EQ(
      run_binary({"reduce", out("both"), "--as", "analyze", "-o", out("kept"), "--no-plots"}).code,
      0);
  const Words again = {"analyze", run_, "--no-merge", "--no-plots", "-o"};
  const auto analyze = [&](const std::string& to) {
    Words args = again;
    args.push_back(to);
    return run_binary(args);
  };
  const RunResult over = analyze(out("kept")), fresh = analyze(out("fresh"));
  EXPECT_EQ(over.code, 0) << over.err;
  EXPECT_EQ(over.out.find("unchanged"), std::string::npos) << over.out;
  EXPECT_TRUE(test::bytes_of(out("kept/summary.md")) == test::bytes_of(out("fresh/summary.md")));
}

TEST_F(PartialFaults, ADocumentOnStdoutStandsAlone) {
  make_parts(run_, out("pages"), 1, {"--for", "page"});
  const RunResult r = run_binary({"reduce", out("pages"), "--as", "page", "-o", "-"});
  if (test::lacks_web_parts(r))
    GTEST_SKIP() << r.err;
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(r.out.ends_with("</html>\n")) << r.out.substr(r.out.size() - 100);
  EXPECT_NE(r.err.find(": 4 ranks, "), std::string::npos) << r.err;
}

TEST_F(PartialFaults, ADryRunSaysWhichPartsAreThere) {
  const auto dry = [&](const Words& more) {
    Words args = {"partial", run_, "-o", out("parts"), "--for", "collectives", "--dry-run"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.out;
  };
  const auto count = [](const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++out;
    return out;
  };
  test::settle();
  make_parts(run_, out("parts"), 2, {"--for", "collectives"});
  const auto before = test::files_below(out("parts"));
  EXPECT_EQ(count(dry({}), " (exists, is reused)\n"), 4U) << dry({});
  EXPECT_EQ(count(dry({"--force"}), " (exists, is reused)\n"), 0U);
  EXPECT_EQ(count(dry({"--shard", "1/3"}), "\n"), 1U) << dry({"--shard", "1/3"});
  rewrite_rank(1);
  const std::string out_of_date = dry({});
  EXPECT_EQ(count(out_of_date, " (exists, is reused)\n"), 3U) << out_of_date;
  EXPECT_NE(out_of_date.find("rank 1: "), std::string::npos) << out_of_date;
  EXPECT_EQ(test::files_below(out("parts")), before);
}

TEST_F(PartialFaults, PartsForSomethingElse) {
  const RunResult r = run_binary({"reduce", out("parts"), "--as", "page", "-o", out("x.html")});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("these parts lack the data that page needs"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("rankscope partial --for page"), std::string::npos) << r.err;
}

TEST_F(PartialFaults, AFolderWithoutParts) {
  const RunResult r = run_binary({"reduce", run_, "-o", out("x.json")});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("no shard has written its parts here"), std::string::npos) << r.err;
}

TEST_F(PartialFaults, AShardThatIsNone) {
  const RunResult r = run_binary({"partial", run_, "-o", out("x"), "--shard", "2/2"});
  EXPECT_EQ(r.code, 2) << r.err;
}

} // namespace
} // namespace rankscope
