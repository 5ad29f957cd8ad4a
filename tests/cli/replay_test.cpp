// Tests rankscope replay with fake programs and libraries.
#include "cli/run_binary.h"
#include "collect/library_perf/perf_rows.h"
#include "os/process.h"
#include "replay_trace.h"
#include "temp_folder.h"
#include "waiting.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

std::string program_replay(const test::TempFolder& t, const std::string& name,
                           const std::string& script) {
  const std::string path = t.write("bin/" + name, "#!/bin/sh\n" + script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

std::vector<CsvRow> table(const std::string& path) {
  auto rows = read_csv(path, {"Avg. profile time (us)", "bench status", "bench detail"});
  EXPECT_TRUE(rows) << path;
  return rows ? *rows : std::vector<CsvRow>();
}

TEST(Replay, MeasuresAndWritesWhatItRan) {
  const test::TempFolder t;
  const std::string bench = program_replay(t, "hipblaslt-bench",
                                           "echo \"hipblaslt-bench $*\" >> " + t.path("ran") +
                                               "\necho 'transA,m,us'\necho 'T,100,50'\n");
  const std::string driver =
      program_replay(t, "MIOpenDriver",
                     "echo \"MIOpenDriver $*\" >> " + t.path("ran") +
                         "\necho 'GPU Kernel Time Forward Conv. Elapsed: 0.024 ms (average)'\n");
  const auto r = test::run_binary({"replay", test::replay_trace(t), "--hipblaslt-bench", bench,
                                   "--miopen-driver", driver, "-o", t.path("out")});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto gemm = table(t.path("out/gemm_node_replay.csv"));
  ASSERT_EQ(gemm.size(), 2U);
  EXPECT_EQ(gemm[0].at("Avg. gemm-bench time (us)"), "50.0");
  EXPECT_EQ(gemm[0].at("Avg. profile time (us)"), "40.0");
  EXPECT_EQ(gemm[0].at("Diff profile vs. gemm-bench (us)"), "10.0");
  EXPECT_EQ(gemm[0].at("Diff profile vs. gemm-bench (pct)"), "25.0");
  EXPECT_EQ(gemm[0].at("Avg. replay time (us)"), "") << "PyTorch was not asked";
  EXPECT_EQ(gemm[0].at("command file"), "hipblaslt-bench-0.log");
  EXPECT_EQ(gemm[1].at("Avg. gemm-bench time (us)"), "");
  EXPECT_EQ(gemm[1].at("bench status"), "unsupported");
  EXPECT_EQ(gemm[1].at("bench detail").find("no command for the type "), 0U);
  EXPECT_EQ(gemm[1].at("command file"), "");
  const auto conv = table(t.path("out/conv_node_replay.csv"));
  ASSERT_EQ(conv.size(), 1U);
  EXPECT_EQ(conv[0].at("Avg. conv-bench time (us)"), "24.0");
  EXPECT_EQ(conv[0].at("conv no."), "0");
  const std::string commands = test::bytes_of(t.path("out/hipblaslt-bench-0.log")) +
                               test::bytes_of(t.path("out/miopen-driver-0.log"));
  EXPECT_EQ(test::bytes_of(t.path("ran")), commands) << "the files hold what was run";
  EXPECT_EQ(commands.find("hipblaslt-bench --api_method c -m 100 -n 50 -k 200 "), 0U) << commands;
  EXPECT_FALSE(std::filesystem::exists(t.path("out/hipblaslt-bench-1.log")));
  EXPECT_TRUE(std::filesystem::exists(t.path("out/node_replay.xlsx")));
  EXPECT_NE(r.out.find("2 of 3 operators measured"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("1.25"), std::string::npos) << "the ratio: " << r.out;
  EXPECT_FALSE(std::filesystem::exists("pwned"));
}

TEST(Replay, NativelyByALibrary) {
  const test::TempFolder t;
  const auto r =
      test::run_binary({"replay", test::replay_trace(t), "--runner", "native", "--libraries",
                        std::string(RANKSCOPE_FAKES) + "/cuda", "-o", t.path("out")});
  ASSERT_EQ(r.code, 0) << r.err;
  const auto gemm = table(t.path("out/gemm_node_replay.csv"));
  ASSERT_EQ(gemm.size(), 2U);
  // 2 * 100 * 50 * 200 operations take 2 us on a fake GPU of 1 TFLOPS; its first measured run takes
  // 1.8 us
  EXPECT_EQ(gemm[0].at("bench runner"), "cublasLt");
  EXPECT_EQ(gemm[0].at("bench status"), "ok") << gemm[0].at("bench detail");
  EXPECT_NEAR(std::stod(gemm[0].at("Avg. gemm-bench time (us)")), 2, 0.21);
  const auto conv = table(t.path("out/conv_node_replay.csv"));
  ASSERT_EQ(conv.size(), 1U);
  EXPECT_EQ(conv[0].at("bench status"), "unsupported");
  EXPECT_EQ(conv[0].at("Avg. conv-bench time (us)"), "");
}

TEST(Replay, WithoutRunnersThereAreCommandFiles) {
  const test::TempFolder t;
  const std::string in = test::replay_trace(t, "a 'quoted'\n name.json");
  const auto none = test::run_binary({"replay", in, "--runner", "none"});
  ASSERT_EQ(none.code, 0) << none.err;
  EXPECT_TRUE(std::filesystem::exists(
      t.path("rankscope_out/a 'quoted'\n name_replay/hipblaslt-bench-0.log")));
  EXPECT_NE(none.out.find("0 of 3 operators measured"), std::string::npos) << none.out;
  // requested but missing: exit code 7, and the files are written
  const auto missing =
      test::run_binary({"replay", in, "--runner", "hipblaslt-bench", "--hipblaslt-bench",
                        t.path("none"), "--miopen-driver", t.path("none"), "-o", t.path("out")});
  EXPECT_EQ(missing.code, 7) << missing.err;
  EXPECT_EQ(table(t.path("out/gemm_node_replay.csv"))[0].at("bench status"), "missing");
  EXPECT_TRUE(std::filesystem::exists(t.path("out/miopen-driver-0.log")));
}

TEST(Replay, TopAndTracesWithoutOperators) {
  const test::TempFolder t;
  const auto top = test::run_binary(
      {"replay", test::replay_trace(t), "--runner", "none", "--top", "1", "-o", t.path("out")});
  ASSERT_EQ(top.code, 0) << top.err;
  EXPECT_EQ(table(t.path("out/gemm_node_replay.csv")).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(t.path("out/conv_node_replay.csv")));
  const std::string empty = t.write("e.json", R"({"traceEvents":[]})");
  EXPECT_EQ(test::run_binary({"replay", empty, "--runner", "none"}).code, 3);
  EXPECT_EQ(test::run_binary({"replay", t.path("none.json")}).code, 3);
  EXPECT_EQ(test::run_binary({"replay", empty, "--runner", "guess"}).code, 2);
}

TEST(Replay, AnInterruptKeepsWhatWasMeasured) {
  const test::TempFolder t;
  const std::string bench = program_replay(t, "hipblaslt-bench", "echo 'transA,us'\necho 'T,50'\n");
  const std::string driver =
      program_replay(t, "MIOpenDriver", "touch " + t.path("begun") + "; exec sleep 60\n");
  ProcessSpec spec;
  spec.argv = {test::binary(),      "replay", test::replay_trace(t), "--runner", "hipblaslt-bench",
               "--hipblaslt-bench", bench,    "--miopen-driver",     driver,     "-o",
               t.path("out")};
  spec.err = Stream::kCapture;
  Result<Process> run = Process::start(std::move(spec));
  ASSERT_TRUE(run);
  ASSERT_TRUE(test::soon([&] { return std::filesystem::exists(t.path("begun")); }));
  ::kill(run->pid(), SIGINT);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 130) << end->err;
  EXPECT_EQ(table(t.path("out/gemm_node_replay.csv"))[0].at("Avg. gemm-bench time (us)"), "50.0");
  const auto conv = table(t.path("out/conv_node_replay.csv"));
  ASSERT_EQ(conv.size(), 1U);
  EXPECT_EQ(conv[0].at("bench status"), "skipped");
}

} // namespace
} // namespace rankscope
