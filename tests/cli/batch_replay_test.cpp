// Tests rankscope batch -r with fake programs.
#include "cli/run_binary.h"
#include "replay_trace.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

std::string program(const test::TempFolder& t, const std::string& name, const std::string& script) {
  const std::string path = t.write("bin/" + name, "#!/bin/sh\n" + script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// Whether the text contains these parts in this order.
bool in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos)
      return false;
    ++at;
  }
  return true;
}

TEST(BatchReplay, SheetsStandBehindTheirGroups) {
  const test::TempFolder t;
  test::replay_trace(t, "runs/a/rank_0.json");
  test::replay_trace(t, "runs/a/rank_1.json");
  const std::string bench = program(t, "hipblaslt-bench", "echo 'transA,m,us'\necho 'T,100,50'\n");
  const std::string driver = program(t, "MIOpenDriver", "echo 'no GPU' >&2\nexit 3\n");
  const auto r =
      test::run_binary({"batch", "-b", t.path("runs"), "-f", "rank_", "-r", "--hipblaslt-bench",
                        bench, "--miopen-driver", driver, "-o", t.path("out.json")});
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string out = test::bytes_of(t.path("out.json"));
  EXPECT_TRUE(in_order(out, {"\"gemm\"", "\"gemm_node_replay\"", "\"conv\"", "\"conv_node_replay\"",
                             "\"kernel_launchers\""}))
      << out.substr(0, 2000);
  EXPECT_NE(out.find("exit code 3: no GPU"), std::string::npos) << "why there is no time";
  // the product that can be replayed takes 80 of 120 us over both ranks; the other product has an
  // unknown type
  EXPECT_EQ(test::bytes_of(t.path("runs/a/hipblaslt-bench-0.log"))
                .find("hipblaslt-bench --api_method c -m 100 -n 50 -k 200 "),
            0U);
  EXPECT_FALSE(std::filesystem::exists(t.path("runs/a/hipblaslt-bench-1.log")));
  EXPECT_TRUE(std::filesystem::exists(t.path("runs/a/miopen-driver-0.log")));
  EXPECT_NE(r.err.find("no GPU"), std::string::npos) << r.err;
}

// HA-B14: a replay without a measurement is not a success.
TEST(BatchReplay, NothingMeasuredIsExit4) {
  const test::TempFolder t;
  test::replay_trace(t, "runs/rank_0.json");
  const std::string bad = program(t, "hipblaslt-bench", "echo 'no GPU' >&2\nexit 3\n");
  const auto r = test::run_binary({"batch", "-b", t.path("runs"), "-r", "--hipblaslt-bench", bad,
                                   "--miopen-driver", bad, "--runner", "hipblaslt-bench"});
  EXPECT_EQ(r.code, 4) << r.err;
  const auto node = test::run_binary({"replay", t.path("runs/rank_0.json"), "--hipblaslt-bench",
                                      bad, "--miopen-driver", bad, "-o", t.path("node")});
  EXPECT_EQ(node.code, 4) << node.err;
  EXPECT_NE(node.out.find("0 of 3 operators measured"), std::string::npos) << node.out;
}

TEST(BatchReplay, EachFolderHasItsOwnAndCompatItsEightColumns) {
  const test::TempFolder t;
  test::replay_trace(t, "runs/a/rank_0.json");
  test::replay_trace(t, "runs/b/rank_0.json");
  const auto r = test::run_binary(
      {"batch", "-b", t.path("runs"), "-r", "--runner", "none", "--compat", "tracelens"});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* folder : {"a", "b"})
    EXPECT_TRUE(
        std::filesystem::exists(t.path("runs/" + std::string(folder) + "/hipblaslt-bench-0.log")));
  const auto compat = test::run_binary({"batch", "-b", t.path("runs/a"), "-r", "--runner", "none",
                                        "--compat", "tracelens", "-o", t.path("c.json")});
  ASSERT_EQ(compat.code, 0) << compat.err;
  const std::string out = test::bytes_of(t.path("c.json"));
  EXPECT_NE(out.find("gemm_node_replay"), std::string::npos);
  EXPECT_EQ(out.find("bench status"), std::string::npos);
  EXPECT_EQ(out.find("bench_status"), std::string::npos);
}

TEST(BatchReplay, ARunnerThatWasAskedForHasToBeThere) {
  const test::TempFolder t;
  test::replay_trace(t, "runs/rank_0.json");
  const auto r =
      test::run_binary({"batch", "-b", t.path("runs"), "-r", "--runner", "hipblaslt-bench",
                        "--hipblaslt-bench", t.path("none"), "--miopen-driver", t.path("none")});
  EXPECT_EQ(r.code, 7) << r.err;
  EXPECT_NE(r.err.find("can be found"), std::string::npos) << r.err;
  for (const auto& entry : std::filesystem::directory_iterator(t.path("runs")))
    EXPECT_EQ(entry.path().filename(), "rank_0.json") << "nothing is written";
  EXPECT_EQ(test::run_binary({"batch", "-b", t.path("runs"), "-r", "--runner", "pytorch",
                              "--python", t.path("none")})
                .code,
            7);
}

// Reference data: the cumulative share of the gemm rows determines which rows are replayed.
TEST(BatchReplay, SelectionOfTheReferenceData) {
  const std::filesystem::path golden = test::golden_dir() / "batch" / "profiles";
  if (!std::filesystem::is_directory(golden))
    GTEST_SKIP() << "the reference data of real runs is absent (RANKSCOPE_GOLDEN names its folder)";
  const test::TempFolder t;
  std::filesystem::copy(golden, t.path("profiles"), std::filesystem::copy_options::recursive);
  const auto r =
      test::run_binary({"batch", "-b", t.path("profiles"), "-f", "step_8", "-r", "--runner", "none",
                        "--compat", "tracelens", "-o", t.path("out.xlsx")});
  ASSERT_EQ(r.code, 0) << r.err;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(t.path("profiles")))
    if (entry.path().extension() == ".log")
      files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"hipblaslt-bench-0.log", "hipblaslt-bench-1.log",
                                             "hipblaslt-bench-2.log"}));
}

} // namespace
} // namespace rankscope
