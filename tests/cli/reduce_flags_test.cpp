// Tests options that reduce has in common with the commands whose output it makes, if they can be
// applied after the traces are read: verdicts of a comparison, selection of workbooks, sheets as
// CSV. Bytes, messages and exit codes must be those of the command.
#include "output_trees.h"
#include "run_binary.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using ReduceFlagsWords = std::vector<std::string>;

ReduceFlagsWords joined(ReduceFlagsWords a, const ReduceFlagsWords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Returns the lines that contain this word.
ReduceFlagsWords lines_with(const std::string& text, const std::string& word) {
  ReduceFlagsWords out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (const std::string line = text.substr(at, end - at); line.find(word) != std::string::npos)
      out.push_back(line);
    at = end + 1;
  }
  return out;
}

class ReduceFlagsTest : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.ranks = 2;
    o.steps = 4;
    o.straggler = -1;
    ASSERT_TRUE(synth::generate(o, folder_.path("one"), 1, {}));
    o.seed += 1;
    o.gemm_scale = 1.4;
    ASSERT_TRUE(synth::generate(o, folder_.path("two"), 1, {}));
  }

  /// Makes parts of both runs for compare.
  void make_parts() const {
    for (const auto& [run, parts] : {std::pair(base_, "a"), std::pair(slow_, "b")})
      for (const char* const shard : {"0/2", "1/2"}) {
        const RunResult r =
            run_binary({"partial", run, "-o", path(parts), "--shard", shard, "--for", "compare"});
        ASSERT_EQ(r.code, 0) << r.err;
      }
  }

  /// Runs both commands with the same further arguments in separate folders; expects the same exit
  /// code, messages and files.
  void expect_same_comparison(const ReduceFlagsWords& more, int code) {
    const ReduceFlagsWords direct = {"compare", "--baseline", base_, "--test", slow_, "-o", "out"};
    const ReduceFlagsWords reduced = {"reduce", "--as",    "compare", "--baseline", path("a"),
                                      "--test", path("b"), "-o",      "out"};
    const RunResult want = in_folder("direct", joined(direct, more));
    const RunResult got = in_folder("reduced", joined(reduced, more));
    EXPECT_EQ(want.code, code) << want.err;
    EXPECT_EQ(got.code, want.code) << got.err;
    for (const char* const word : {"rankscope: ", "::error", "::warning", "::notice"})
      EXPECT_EQ(lines_with(got.err + got.out, word), lines_with(want.err + want.out, word));
    EXPECT_TRUE(test::files_below(path("direct")) == test::files_below(path("reduced")));
    EXPECT_FALSE(test::files_below(path("direct")).empty());
    want_ = want;
    got_ = got;
    fs::remove_all(path("direct"));
    fs::remove_all(path("reduced"));
  }

  /// Runs the program in that folder, so that relative output paths are equal.
  RunResult in_folder(const std::string& name, const ReduceFlagsWords& args) const {
    fs::create_directories(path(name));
    const fs::path before = fs::current_path();
    fs::current_path(path(name));
    RunResult out = run_binary(args);
    fs::current_path(before);
    return out;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  const test::TempFolder folder_;
  const std::string base_ = test::config_folder(folder_.path("one"));
  const std::string slow_ = test::config_folder(folder_.path("two"));
  RunResult want_, got_;
};

TEST_F(ReduceFlagsTest, AVerdictIsThatOfCompare) {
  make_parts();
  std::ofstream(path("conditions")) << "# of the nightly run\ncomputation_time>1%\n";
  const ReduceFlagsWords files = {"--markdown", "pr.md",        "--junit",   "junit.xml",
                                  "--verdict",  "verdict.json", "--no-plots"};
  expect_same_comparison(joined({"--fail-on", "total_time>2%", "--fail-on-file", path("conditions"),
                                 "--annotate", "--labels", "before,after", "--threshold", "1"},
                                files),
                         5);
  EXPECT_NE(got_.err.find("computation_time"), std::string::npos) << got_.err;
  EXPECT_FALSE(lines_with(got_.out, "::error").empty()) << got_.out;
}

TEST_F(ReduceFlagsTest, AConditionThatDoesNotHoldIsNoRegression) {
  make_parts();
  expect_same_comparison({"--fail-on", "total_time>900%", "--markdown", "pr.md", "--no-plots"}, 0);
}

TEST_F(ReduceFlagsTest, MarkdownOnStdoutStandsAlone) {
  make_parts();
  expect_same_comparison({"--markdown", "-", "--no-plots", "--labels", "x,y"}, 0);
  EXPECT_EQ(got_.out, want_.out);
  EXPECT_NE(got_.out.find("## Performance comparison"), std::string::npos);
}

TEST_F(ReduceFlagsTest, AnnotationsLeaveMarkdownOnStdoutAlone) {
  make_parts();
  expect_same_comparison(
      {"--markdown", "-", "--no-plots", "--annotate", "--fail-on", "total_time>2%"}, 5);
  EXPECT_EQ(got_.out, want_.out);
  EXPECT_EQ(got_.out.find("::error"), std::string::npos);
  EXPECT_FALSE(lines_with(got_.err, "::error").empty()) << got_.err;
}

TEST_F(ReduceFlagsTest, AChoiceOfWorkbooksIsThatOfCompare) {
  make_parts();
  std::vector<ReduceFlagsWords> choices = {{"--gpu-timeline", "--geo-mean"}};
  if (!test::sanitized_program()) // each takes seconds under a sanitizer
    choices.insert(choices.end(), {{"--collective", "--collective-only"},
                                   {"--final-report", "--individual-only"},
                                   {"--align", "none", "--no-plots"}});
  for (const ReduceFlagsWords& choice : choices)
    expect_same_comparison(choice, 0);
}

// The parts have the facts of analyze and compare, but not their workbooks of single ranks.
TEST_F(ReduceFlagsTest, WithoutIndividualReportsPartsNeedNoWorkbooks) {
  for (const auto& [input, parts] : {std::pair(base_, "a"), std::pair(slow_, "b")})
    ASSERT_EQ(run_binary({"partial", input, "-o", path(parts), "--for", "html,baseline"}).code, 0);
  const ReduceFlagsWords analyze = {"reduce", path("a"), "--as",      "analyze",
                                    "-o",     "out",     "--no-plots"};
  const ReduceFlagsWords compare = {"reduce", "--as",    "compare", "--baseline", path("a"),
                                    "--test", path("b"), "-o",      "out",        "--no-plots"};
  EXPECT_EQ(in_folder("all", analyze).code, 2);
  EXPECT_EQ(in_folder("few", joined(analyze, {"--no-individual-reports"})).code, 0);
  EXPECT_EQ(in_folder("every", compare).code, 2);
  EXPECT_EQ(in_folder("timelines", joined(compare, {"--gpu-timeline"})).code, 0);
  for (const auto& [name, content] : test::files_below(path("timelines")))
    EXPECT_EQ(name.find("_reports"), std::string::npos) << name;
}

TEST_F(ReduceFlagsTest, SheetsOfCollectivesAsCsv) {
  for (const char* const shard : {"0/2", "1/2"})
    ASSERT_EQ(
        run_binary({"partial", base_, "-o", path("a"), "--shard", shard, "--for", "collectives"})
            .code,
        0);
  for (const ReduceFlagsWords& more :
       {ReduceFlagsWords{"--csv-dir", "csv"},
        ReduceFlagsWords{"--csv-dir", "csv", "-o", "nccl.json", "--agg-metrics", "mean,max"}}) {
    const RunResult want = in_folder("direct", joined({"collectives", base_}, more));
    const RunResult got = in_folder("reduced", joined({"reduce", path("a")}, more));
    EXPECT_EQ(want.code, 0) << want.err;
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_GT(test::files_below(path("direct")).size(), 3U);
    EXPECT_TRUE(test::files_below(path("direct")) == test::files_below(path("reduced")));
    fs::remove_all(path("direct"));
    fs::remove_all(path("reduced"));
  }
}

TEST_F(ReduceFlagsTest, ThePageOfASweepElsewhere) {
  const std::string sweep = path("one");
  const RunResult want =
      in_folder("made", {"analyze", sweep, "-o", "out", "--no-merge", "--html", "page.html"});
  ASSERT_EQ(want.code, 0) << want.err;
  const std::string page = test::bytes_of(path("made/page.html"));
  fs::remove_all(path("made"));
  ASSERT_EQ(run_binary({"partial", sweep, "-o", path("a"), "--for", "analyze"}).code, 0);
  const RunResult got = in_folder(
      "made", {"reduce", path("a"), "--as", "analyze", "-o", "out", "--html", "page.html"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(test::bytes_of(path("made/page.html")) == page);
}

// The CI of a cluster has parts, but no traces.
TEST_F(ReduceFlagsTest, ABaselineOfParts) {
  make_parts();
  ASSERT_EQ(in_folder("direct", {"baseline", "save", base_, "-o", "a.rsb", "--label", "x"}).code,
            0);
  const RunResult got = in_folder(
      "reduced", {"reduce", path("a"), "--as", "baseline", "-o", "a.rsb", "--label", "x"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(test::bytes_of(path("direct/a.rsb")).empty());
  EXPECT_TRUE(test::bytes_of(path("direct/a.rsb")) == test::bytes_of(path("reduced/a.rsb")));
  EXPECT_EQ(in_folder("reduced", {"reduce", path("a"), "--as", "baseline", "-o", "a.json"}).code,
            2);
}

TEST_F(ReduceFlagsTest, TwoSweepsBesideEachOther) {
  const ReduceFlagsWords more = {"-o", "out", "--label1", "old", "--label2", "new", "--no-plots"};
  const RunResult want =
      in_folder("direct", joined({"analyze", path("one"), "--sweep2", path("two"), "--no-merge",
                                  "--layout", "2025-11", "--top-k", "3"},
                                 more));
  for (const char* const sweep : {"one", "two"})
    ASSERT_EQ(run_binary({"partial", path(sweep), "-o", path(sweep) + std::string("_parts"),
                          "--for", "analyze", "--layout", "2025-11", "--top-k", "3"})
                  .code,
              0);
  const RunResult got = in_folder("reduced", joined({"reduce", path("one_parts"), "--as", "analyze",
                                                     "--sweep2", path("two_parts")},
                                                    more));
  EXPECT_EQ(want.code, 0) << want.err;
  EXPECT_EQ(got.code, 0) << got.err;
  const auto files = test::files_below(path("direct"));
  EXPECT_TRUE(fs::exists(path("reduced/out/new/summary.md")));
  EXPECT_TRUE(fs::exists(path("reduced/out/sweep_comparison_report.html")));
  const auto reduced = test::files_below(path("reduced"));
  EXPECT_EQ(files.size(), reduced.size());
  for (const auto& [name, bytes] : files)
    EXPECT_TRUE(reduced.count(name) > 0 && reduced.at(name) == bytes) << name;
}

TEST_F(ReduceFlagsTest, WhatDoesNotBelongToTheCommandIsRefusedBeforeAnythingIsRead) {
  const auto refused = [&](const ReduceFlagsWords& args, const std::string& sentence) {
    const RunResult r = run_binary(joined({"reduce"}, args));
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(sentence), std::string::npos) << r.err;
  };
  const std::string none = path("none"), out = path("out");
  refused({none, "-o", out + ".json", "--fail-on", "total_time>2%"},
          "collectives: no option --fail-on");
  refused({none, "--as", "page", "-o", out, "--gpu-timeline"}, "page: no option --gpu-timeline");
  refused({none, "--as=analyze", "-o", out, "--csv-dir", out}, "analyze: no option --csv-dir");
  refused({none, "-o", out + ".json", "--html", out}, "collectives: no option --html");
  refused({none}, "needs --output");
  refused({none, "--as", "analyze"}, "needs --output");
  refused({"variance", none, "--as", "gemm"}, "needs --output");
  refused({"-o", out + ".json"}, "needs folders of parts");
  refused({none, "--as", "merge", "-o", out}, "'merge' is not one of collectives, top");
  refused({"--as", "compare", "--baseline", none, "--test", none, "-o", out, "--fail-on",
           "totaltime>2%"},
          "--fail-on: no metric named totaltime");
  refused({"--as", "compare", "--baseline", none, "--test", none, "-o", out, "--labels", "a"},
          "label");
  EXPECT_FALSE(fs::exists(out));
}

} // namespace
} // namespace rankscope
