// Tests rocprof (v1) with a fake script: its files in the folder of the command, and files of the
// user in the same folder.
#include "profile_fixture.h"

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

class ProfileRocprof : public test::ProfileFixture {
protected:
  void SetUp() override {
    ProfileFixture::SetUp();
    // writes results.csv in the current folder; with -o, to the given file
    script("bin/rocprof", R"(#!/bin/sh
file=results.csv
while :; do case $1 in
-o) file=$2; shift 2;; -*) shift;; on) shift;; *) break;; esac; done
"$@"
status=$?
{ echo 'Index,KernelName,gpu-id,queue-id,BeginNs,EndNs'
  echo '0,"gemm",0,0,1000,3000'; echo '1,"add",0,0,4000,9000'; } > "$file"
exit $status
)");
    path_ = std::getenv("PATH");
    ::setenv("PATH", (folder_.path("bin") + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ProfileFixture::TearDown();
  }
  std::string path_;
};

// HA-B2: files of the user with similar names are not moved.
TEST_F(ProfileRocprof, FilesOfTheUserStayWhereTheyAre) {
  folder_.write("results_mine.csv", "a\n");
  for (const char* tool : {"rocprof", "rocprof:cmd=rocprof --timestamp on"}) {
    const RunResult r = profile(
        {"--tool", tool}, {"sh", "-c", "echo b >> results_mine.csv; echo c > results_final.csv"});
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(test::bytes_of(folder_.path("results_final.csv")), "c\n");
    EXPECT_EQ(test::bytes_of(folder_.path("results_mine.csv")).substr(0, 4), "a\nb\n");
    EXPECT_FALSE(std::filesystem::exists(folder_.path("out/rocprof/results_mine.csv")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("out/rocprof/results_final.csv")));
  }
}

// HA-B5, HA-B6: with a command of the user, the tool writes to the current folder. The output must
// not be reported as empty, and its table of kernels is read.
TEST_F(ProfileRocprof, ACommandOfOnesOwn) {
  const RunResult r =
      profile({"--tool", "rocprof:cmd=rocprof --timestamp on", "--strict"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_FALSE(has_code("empty-output"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("results.csv"))) << "a copy is taken";
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/rocprof/results.csv")));
  EXPECT_TRUE(
      std::filesystem::exists(folder_.path("out/reports/rocprof_results.csv_perf_report.xlsx")))
      << r.err;
  EXPECT_NE(r.err.find("computation_time"), std::string::npos) << r.err;
}

TEST_F(ProfileRocprof, AFileThatWasThereBeforeIsNotTaken) {
  folder_.write("results.csv", "mine\n");
  const RunResult r = profile({"--tool", "rocprof:cmd=rocprof --timestamp on"}, {"true"});
  EXPECT_TRUE(has_code("empty-output")) << r.err;
  EXPECT_NE(manifest().find("results.csv existed before the run"), std::string::npos) << manifest();
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out/rocprof/results.csv")));
}

// rocprofv3 --kernel-trace records kernels and no launches. All commands count these kernels.
TEST_F(ProfileRocprof, KernelsWithoutLaunchesAreInTheTimeline) {
  std::string kernels = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\","
                        "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
                        "\"End_Timestamp\"\n";
  for (int i = 0; i < 20; ++i)
    kernels += "\"KERNEL_DISPATCH\",\"Agent 1\",1,10," + std::to_string(i) + ",1,\"k\"," +
               std::to_string(i + 1) + "," + std::to_string(1000000 + i * 100000) + "," +
               std::to_string(1050000 + i * 100000) + "\n";
  folder_.write("kernels.csv", kernels);
  folder_.write("k.json", R"({"tools": {"k": {"shell": true, "cmd": "cp kernels.csv \"$TO\"; ",
      "env_vars": {"TO": "{out}/9_kernel_trace.csv"},
      "produces": [{"path": "{out}/*", "check": "trace"}]}}})");
  const RunResult r = profile({"--tools-config", "k.json", "--tool", "k"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("1.950"), std::string::npos) << r.err;
  EXPECT_EQ(test::run_binary({"report", folder_.path("out/k/9_kernel_trace.csv"), "--csv-dir",
                              folder_.path("csv")})
                .code,
            0);
  EXPECT_NE(test::bytes_of(folder_.path("csv/gpu_timeline.csv")).find("total_time,1.95"),
            std::string::npos);
}

// rocprofv3 lists the GPUs also if it records no kernel.
TEST_F(ProfileRocprof, GpusOfTheMachineAreNoRecords) {
  script("bin/rocprofv3", R"(#!/bin/sh
while [ $1 != -- ]; do [ $1 = -d ] && out=$2; shift; done; shift
mkdir -p $out/host
printf 'Node_Id,Agent_Type\n0,CPU\n1,GPU\n' > $out/host/9_agent_info.csv
echo Kind,Kernel_Name,Start_Timestamp,End_Timestamp > $out/host/9_kernel_trace.csv
"$@"
)");
  const RunResult r = profile({"--tool", "rocprofv3"}, {"true"});
  EXPECT_TRUE(has_code("empty-output")) << manifest();
  EXPECT_NE(manifest().find("kernel_trace.csv has no records"), std::string::npos) << manifest();
  EXPECT_NE(test::bytes_of(folder_.path("out/summary.txt")).find("empty   2 files, 0 records"),
            std::string::npos)
      << r.err;
}

// HA-B6: a trace without GPU events must not give a timeline of zeros.
TEST_F(ProfileRocprof, ATraceWithoutGpuEventsHasNoTimeline) {
  folder_.write("more.json", R"({"tools": {"host": {"env_vars": {"TRACE": "{out}/trace.json"},
      "produces": [{"path": "{out}/trace.json", "check": "json"}]}}})");
  const RunResult r =
      profile({"--tools-config", "more.json", "--tool", "host"},
              {"sh", "-c",
               R"(echo '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":)"
               R"("aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{}}]}' > $TRACE)"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("no GPU work"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("computation_time"), std::string::npos) << r.err;
}

TEST_F(ProfileRocprof, AToolThatWroteSomeOfItsFilesIsTold) {
  folder_.write("two.json", R"({"tools": {"two": {"cmd": "./wrap.sh two", "produces":
      [{"path": "{out}/a.csv", "check": "csv"}, {"path": "{out}/b.csv", "check": "csv"}]}}})");
  const RunResult r = profile({"--tools-config", "two.json", "--tool", "two"},
                              {"sh", "-c", "printf 'h\\n1\\n' > out/two/a.csv"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has_code("missing-output")) << manifest();
  EXPECT_FALSE(has_code("empty-output"));
}

// HA-B35: docker_gpus without --docker is noted.
TEST_F(ProfileRocprof, GpusOfAContainerWithoutOneAreNoted) {
  const RunResult r = profile({"--tool", "A", "-c", R"({"docker_gpus": "0"})"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("docker_gpus has no effect without --docker"), std::string::npos) << r.err;
}

// HA-B15: the path of the run contains pattern characters.
TEST_F(ProfileRocprof, AFolderWithCharactersOfPatterns) {
  std::filesystem::create_directory(folder_.path("g[1]"));
  std::filesystem::current_path(folder_.path("g[1]"));
  const RunResult r =
      test::run_binary({"profile", "--out", "out", "--tool", "rocprof", "--", "true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("computation_time"), std::string::npos) << r.err;
}

} // namespace
} // namespace rankscope
