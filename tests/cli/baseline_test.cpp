// Tests rankscope baseline: a saved run gives byte for byte the same verdict as its folder; damaged
// files; the history of many runs.
#include "browser.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string make_baseline_run(const TempFolder& folder, const std::string& name, std::uint64_t seed,
                              double gemm_scale, std::vector<std::int64_t> missing = {}) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 4;
  o.seed = seed;
  o.straggler = -1;
  o.gemm_scale = gemm_scale;
  o.missing_ranks = std::move(missing);
  EXPECT_TRUE(synth::generate(o, folder.path(name), 2, nullptr));
  return folder.path(name) + "/256thread/nccl_28channels";
}

// The GPU idles between two steps while the host waits for data.
TEST(Baseline, IdleTimeBetweenStepsMakesStepsLonger) {
  const TempFolder folder;
  for (const auto& [name, loader] : {std::pair("one", "loader:ms=0"), {"two", "loader:ms=6"}})
    ASSERT_EQ(run_binary({"synth", folder.path(name), "--threads", "256", "--channels", "28",
                          "--ranks", "1", "--layers", "2", "--steps", "8", "--inject", loader})
                  .code,
              0);
  const std::string file = folder.path("one.rsb");
  const std::string test = folder.path("two/256thread/nccl_28channels");
  ASSERT_EQ(
      run_binary({"baseline", "save", folder.path("one/256thread/nccl_28channels"), "-o", file})
          .code,
      0);
  const auto check = [&](const std::string& condition) {
    return run_binary({"baseline", "check", test, "--baseline", file, "--fail-on", condition}).code;
  };
  EXPECT_EQ(check("total_time>5%"), 5);
  EXPECT_EQ(check("total_time>30%"), 0);
  EXPECT_EQ(check("idle_time>50%"), 5);
}

TEST(Baseline, CheckSaysWhatCompareOfTheFoldersSays) {
  const TempFolder folder;
  const std::string base = make_baseline_run(folder, "one", 1, 1);
  const std::string test = make_baseline_run(folder, "two", 2, 1.05);
  const std::string file = folder.path("base.rsb");
  const RunResult saved = run_binary({"baseline", "save", base, "-o", file});
  ASSERT_EQ(saved.code, 0) << saved.err;
  EXPECT_NE(saved.err.find("3 ranks, 4 steps"), std::string::npos) << saved.err;
  EXPECT_LT(fs::file_size(file), 100'000U);
  const std::string conditions =
      folder.write("conditions", "total_time>2%\nexposed_comm>500%  # holds\n");
  const auto outputs = [&](const std::string& name) {
    return std::vector<std::string>{"--labels",       "A,B",
                                    "--fail-on-file", conditions,
                                    "--annotate",     "--quiet",
                                    "--junit",        folder.path(name + ".xml"),
                                    "--verdict",      folder.path(name + ".json"),
                                    "--markdown",     folder.path(name + ".md")};
  };
  std::vector<std::string> compare = {"compare",  "--baseline",       base,        "--test", test,
                                      "--output", folder.path("out"), "--no-plots"};
  std::vector<std::string> check = {"baseline", "check", test, "--baseline", file};
  for (const std::string& word : outputs("compare"))
    compare.push_back(word);
  for (const std::string& word : outputs("check"))
    check.push_back(word);
  const RunResult a = run_binary(compare);
  const RunResult b = run_binary(check);
  EXPECT_EQ(a.code, 5) << a.err;
  EXPECT_EQ(b.code, 5) << b.err;
  EXPECT_EQ(a.err, b.err);
  for (const char* ending : {".xml", ".json", ".md"}) {
    const std::string text = test::bytes_of(folder.path("check") + ending);
    EXPECT_EQ(text, test::bytes_of(folder.path("compare") + ending)) << ending;
    EXPECT_GT(text.size(), 100U);
  }
  // each output has the changes: the GEMMs
  const std::string markdown = test::bytes_of(folder.path("check.md"));
  const std::size_t list = markdown.find("### Changes");
  ASSERT_NE(list, std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| 1 | kernel | Cijk", list), std::string::npos) << markdown.substr(list);
  EXPECT_NE(b.out.find("Kernel Tensile "), std::string::npos) << b.out;
  EXPECT_NE(test::bytes_of(folder.path("check.json")).find("\"explained_ms\""), std::string::npos);
  // the table and the list have the same text, except for file names
  EXPECT_EQ(a.out.substr(0, a.out.find("\n- ")), b.out.substr(0, b.out.find("\n- ")));
  EXPECT_TRUE(fs::is_regular_file(folder.path("out") + "/final_analysis_report.xlsx"));

  // with the runs exchanged, nothing is worse; with -o, workbooks are written
  const std::string other = folder.path("other.rsb");
  ASSERT_EQ(run_binary({"baseline", "save", test, "-o", other, "--quiet"}).code, 0);
  const RunResult better =
      run_binary({"baseline", "check", base, "--baseline", other, "-o", folder.path("more"),
                  "--fail-on-file", conditions, "--quiet"});
  EXPECT_EQ(better.code, 0) << better.err;
  EXPECT_TRUE(fs::is_regular_file(folder.path("more") + "/final_analysis_report.xlsx"));
  // compare accepts saved runs for both arguments
  EXPECT_EQ(run_binary({"compare", "--baseline", file, "--test", other, "--output",
                        folder.path("both"), "--no-plots", "--fail-on-file", conditions, "--quiet"})
                .code,
            5);
}

TEST(Baseline, BrokenFilesAndLostRanksHaveTheirExitCodes) {
  const TempFolder folder;
  const std::string complete = make_baseline_run(folder, "one", 1, 1);
  const std::string part = make_baseline_run(folder, "two", 2, 1, {1});
  const std::string file = folder.path("part.rsb");
  EXPECT_EQ(run_binary({"baseline", "save", part, "-o", file, "--quiet"}).code, 4);
  EXPECT_EQ(run_binary({"baseline", "check", complete, "--baseline", file, "--quiet"}).code, 4);
  const std::string bytes = test::bytes_of(file);
  const std::string cut = folder.write("cut.rsb", bytes.substr(0, bytes.size() / 2));
  const RunResult broken =
      run_binary({"baseline", "check", complete, "--baseline", cut, "--quiet"});
  EXPECT_EQ(broken.code, 3);
  EXPECT_NE(broken.err.find("cut.rsb: byte "), std::string::npos) << broken.err;
  EXPECT_EQ(run_binary({"baseline", "check", complete, "--quiet"}).code, 2);
  EXPECT_EQ(run_binary({"baseline", "save", complete, "--quiet"}).code, 2);
  EXPECT_EQ(run_binary({"baseline", "keep", complete, "--quiet"}).code, 2);
  EXPECT_EQ(run_binary({"baseline", "save", complete, "-o", folder.path("x.xlsx")}).code, 2);
  const RunResult json =
      run_binary({"--json", "baseline", "save", complete, "-o", folder.path("x.rsb"), "--quiet"});
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_NE(json.out.find("x.rsb"), std::string::npos) << json.out;
  EXPECT_EQ(run_binary({"baseline", "history", file, "--quiet"}).code, 2);
  EXPECT_EQ(run_binary({"baseline", "history", file, cut, "--quiet"}).code, 3);
}

// HA-E18: rankscope waited for a pipe without a writer that had the name of a part or a baseline.
TEST(Baseline, APipeAmongSavedFilesIsNoneOfThem) {
  const TempFolder folder;
  const std::string run = make_baseline_run(folder, "one", 1, 1);
  for (const char* name : {"saved/a.rsb", "saved/b.rsb"}) {
    std::filesystem::create_directories(folder.path("saved"));
    ASSERT_EQ(run_binary({"baseline", "save", run, "-o", folder.path(name), "--quiet"}).code, 0);
  }
  ASSERT_EQ(::mkfifo(folder.path("saved/c.rsb").c_str(), 0600), 0);
  const RunResult history = run_binary({"baseline", "history", folder.path("saved"), "--quiet"});
  EXPECT_EQ(history.code, 0) << history.err;
  const std::string parts = folder.path("parts");
  ASSERT_EQ(run_binary({"partial", run, "-o", parts, "--for", "collectives", "--quiet"}).code, 0);
  ASSERT_EQ(::mkfifo((parts + "/shard_x.part").c_str(), 0600), 0);
  const RunResult reduced =
      run_binary({"reduce", parts, "--as", "collectives", "-o", folder.path("c.json"), "--quiet"});
  EXPECT_EQ(reduced.code, 0) << reduced.err;
}

// Regression test: a pipe ended in no time, a device only after 1 GiB.
TEST(Baseline, WhatIsNoFileIsRefusedInOneLine) {
  const TempFolder folder;
  const std::string run = make_baseline_run(folder, "one", 1, 1);
  const std::string pipe = folder.path("pipe.rsb"), device = folder.path("zero.rsb"),
                    large = folder.write("large.rsb", ""), none = folder.path("folder.rsb");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", device);
  std::filesystem::resize_file(large, std::uintmax_t{5} << 30U);
  std::filesystem::create_directory(none);
  for (const std::string& path : {pipe, device, large, none})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"baseline", "history", path, path},
          std::vector<std::string>{"compare", "--baseline", path, "--test", run, "--no-plots", "-o",
                                   folder.path("c")}}) {
      const RunResult r = run_binary(words);
      EXPECT_EQ(r.code, 3) << path << r.err;
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << words[0] << path << r.err;
    }
}

TEST(Baseline, HistoryFindsTheBuildThatIsSlower) {
  const TempFolder folder;
  fs::create_directory(folder.path("kept"));
  for (int build = 1; build <= 14; ++build) {
    const std::string name = "run" + std::to_string(build);
    const std::string run =
        make_baseline_run(folder, name, static_cast<std::uint64_t>(build), build < 8 ? 1 : 1.1);
    ASSERT_EQ(
        run_binary({"baseline", "save", run, "-o",
                    folder.path("kept") + "/build-" + std::to_string(build) + ".rsb", "--quiet"})
            .code,
        0);
    fs::remove_all(folder.path(name));
  }
  const RunResult r =
      run_binary({"baseline", "history", folder.path("kept"), "-o", folder.path("history.json"),
                  "--csv-dir", folder.path("csv"), "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(" worse from build-8 on. 95 % CI "), std::string::npos) << r.out;
  EXPECT_TRUE(fs::is_regular_file(folder.path("csv") + "/Change_Points.csv"));
  const std::string page = folder.path("history.html");
  const RunResult html = run_binary({"baseline", "history", folder.path("kept"), "-o", page});
  if (html.code == 7) { // without ECharts no page is written
    EXPECT_FALSE(fs::exists(page));
  } else {
    ASSERT_EQ(html.code, 0) << html.err;
    if (test::browser_lacks().empty())
      test::act("history", page);
  }
  const RunResult json = run_binary({"--json", "baseline", "history", folder.path("kept")});
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_NE(json.out.find("\"rankscope/1\""), std::string::npos);
}

} // namespace
} // namespace rankscope
