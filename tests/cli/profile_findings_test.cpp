// Tests problems with profiling that are caused on purpose: each case has its code in the text and
// in the manifest (docs/profile.md lists them).
#include "collect/fake_sysfs.h"
#include "profile_fixture.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/lib-names.h>

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

class ProfileFindings : public test::ProfileFixture {
protected:
  /// Expects the code in the text and in the manifest.
  void expect_code(const RunResult& r, const std::string& code) const {
    EXPECT_NE(r.err.find(code), std::string::npos) << r.err;
    EXPECT_TRUE(has_code(code)) << manifest();
  }
  void table(const std::string& text) const { folder_.write("more.json", text); }
  RunResult with(const Words& flags, const Words& command) {
    Words all = {"--tools-config", "more.json"};
    all.insert(all.end(), flags.begin(), flags.end());
    return profile(all, command);
  }
};

TEST_F(ProfileFindings, AMissingToolIsNamedBeforeAnythingStarts) {
  table(R"({"tools": {"gone": {"cmd": "no-such-tracer --x", "family": "gpu-tracer"},
                      "there": {"cmd": "./tracer.sh", "family": "gpu-tracer"}}})");
  const RunResult r = with({"--tool", "A", "--tool", "gone"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("missing-tool: gone"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("Searched PATH="), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("available instead: there"), std::string::npos) << r.err;
  EXPECT_TRUE(order().empty());
}

TEST_F(ProfileFindings, AMissingScriptLibraryOrCommandIsNamedBeforeAnythingStarts) {
  table(R"({"tools": {"s": {"post_scripts": ["./none.sh"]},
                      "l": {"requires": ["lib:libno-such-thing.so"]}}})");
  RunResult r = with({"--tool", "s"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("missing-script: s"), std::string::npos) << r.err;
  r = with({"--tool", "l"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("missing-library: l"), std::string::npos) << r.err;
  r = with({}, {"no-such-command"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("missing-command"), std::string::npos) << r.err;
  EXPECT_TRUE(order().empty());
}

TEST_F(ProfileFindings, TheDoctorLooksAtToolsWithoutRunning) {
  table(R"({"tools": {"gone": {"cmd": "no-such-tracer"}, "ok": {"cmd": "sh"}}})");
  RunResult r = test::run_binary(
      {"profile", "doctor", "--tools-config", "more.json", "--tool", "gone", "--tool", "ok"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.out.find("missing-tool: gone"), std::string::npos) << r.out;
  r = test::run_binary({"profile", "doctor", "--tools-config", "more.json", "--tool", "ok"});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  r = test::run_binary({"profile", "tools", "--tools-config", "more.json"});
  EXPECT_EQ(r.code, 0);
  for (const char* name : {"rocprofv3", "miopen_trace", "gone", "not installed", "built in"})
    EXPECT_NE(r.out.find(name), std::string::npos) << name;
}

TEST_F(ProfileFindings, TheDoctorCountsFirstAndNamesThePathOnce) {
  table(R"({"tools": {"gone": {"cmd": "no-such-tracer"}, "away": {"cmd": "no-such-one"},
                      "ok": {"cmd": "sh"}}})");
  const RunResult r = test::run_binary({"profile", "doctor", "--tools-config", "more.json",
                                        "--tool", "gone", "--tool", "away", "--tool", "ok"});
  EXPECT_EQ(r.code, 7);
  EXPECT_EQ(r.out.rfind("1 of 3 tools can run here\n", 0), 0U) << r.out;
  const std::size_t path = r.out.find("PATH=");
  ASSERT_NE(path, std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("PATH=", path + 1), std::string::npos) << r.out;
  EXPECT_GT(path, r.out.find("missing-tool: away")) << r.out;
  EXPECT_GT(path, r.out.rfind("ok  ")) << r.out;
}

// HA-B32: a tool that is installed but has no GPU to record cannot run.
TEST_F(ProfileFindings, TheDoctorDoesNotCountToolsWithoutTheirGpu) {
  if (std::filesystem::exists("/dev/kfd"))
    GTEST_SKIP() << "an AMD GPU is here";
  table(R"({"tools": {"tracer": {"cmd": "sh", "vendors": ["amd"], "family": "gpu-tracer"},
                      "any": {"cmd": "sh"}}})");
  const RunResult r =
      test::run_binary({"profile", "doctor", "--tools-config", "more.json", "--tool", "tracer",
                        "--tool", "any", "--tool", "rocblas_trace", "--tool", "therock_check"});
  EXPECT_EQ(r.out.rfind("2 of 4 tools can run here; 2 more need a GPU that is not here\n", 0), 0U)
      << r.out;
  EXPECT_NE(r.out.find("rocblas_trace               needs a GPU\n"), std::string::npos) << r.out;
}

TEST_F(ProfileFindings, AnEmptyOutputOfAFailedCommandShowsItsLastLines) {
  table(R"({"tools": {"t": {"produces": [{"path": "{out}/x.csv", "check": "csv"}]}}})");
  const RunResult r = with({"--tool", "t"}, {"sh", "-c", "echo the reason >&2; exit 3"});
  EXPECT_EQ(r.code, 3);
  expect_code(r, "output-of-failed-command");
  EXPECT_NE(manifest().find("the reason"), std::string::npos);
}

TEST_F(ProfileFindings, AnEmptyOutputOfAGoodCommandIsTold) {
  table(R"({"tools": {"t": {"shell": true, "cmd": "echo header > $T; ",
      "env_vars": {"T": "{out}/x.csv"}, "produces": [{"path": "{out}/x.csv", "check": "csv"}]}}})");
  RunResult r = with({"--tool", "t"}, {"true"});
  EXPECT_EQ(r.code, 0);
  expect_code(r, "empty-output"); // only a header
  r = with({"--strict", "--tool", "t"}, {"true"});
  EXPECT_EQ(r.code, 4);
}

TEST_F(ProfileFindings, ARunShorterThanTwoSamplesIsTold) {
  const test::FakeSysfs sysfs;
  sysfs.add_gpu(128, "0000:c1:00.0", "aa", 350);
  const RunResult r = profile(
      {"--sysfs-root", sysfs.root(), "--sample-rate", "5", "--tool", "gpu_info_power_profiler"},
      {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "short-run");
}

TEST_F(ProfileFindings, SamplesThatWereMissedAreTold) {
  const test::FakeSysfs sysfs;
  for (int i = 0; i < 64; ++i) // a dozen files per GPU: reading takes longer than the period
    sysfs.add_gpu(128 + i, fmt::format("0000:{:02x}:00.0", i), fmt::format("u{}", i), 350);
  RunResult r = profile({"--sysfs-root", sysfs.root(), "--sample-rate", "0.0001", "--tool",
                         "gpu_info_power_profiler"},
                        {"sleep", "0.3"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "missed-samples");
  r = profile(
      {"--sysfs-root", sysfs.root(), "--sample-rate", "60", "--tool", "gpu_info_power_profiler"},
      {"true"}); // a period that is long enough on every machine
  EXPECT_FALSE(has_code("missed-samples")) << manifest();
}

TEST_F(ProfileFindings, ALogThatCannotBeWrittenIsTold) {
  folder_.write("full/keep", "");
  std::filesystem::create_symlink("/dev/full", folder_.path("full/run.log"));
  const RunResult r = test::run_binary({"profile", "--out", "full", "--", "./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err; // the exit code of the command
  EXPECT_EQ(r.out, "to out\n");
  EXPECT_NE(r.err.find("incomplete-output"), std::string::npos) << r.err;
  EXPECT_NE(test::bytes_of(folder_.path("full/manifest.json")).find("incomplete-output"),
            std::string::npos);
}

TEST_F(ProfileFindings, ATableThatCannotBeWrittenAtTheEndIsTold) {
  folder_.write("full/library_trace/keep", "");
  std::filesystem::create_symlink("/dev/full",
                                  folder_.path("full/library_trace/library_trace.csv"));
  Words words = {"profile", "--out", "full", "--tool", "miopen_trace", "--", "./app.sh", "0"};
  RunResult r = test::run_binary(words);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("unfinished-tool: miopen_trace"), std::string::npos) << r.err;
  words.insert(words.begin() + 1, {"--strict", "--force"});
  r = test::run_binary(words);
  EXPECT_EQ(r.code, 4) << r.err;
}

TEST_F(ProfileFindings, ABaselineThatFailsSaysNothingAboutOverhead) {
  // the command fails without the variable that the tool sets
  const RunResult r = profile({"--baseline", "2", "--tool", "A"}, {"sh", "-c", "test \"$X\" = 1"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "failed-baseline");
  EXPECT_FALSE(has_code("tool-overhead"));
  EXPECT_NE(manifest().find("\"baseline_s\": []"), std::string::npos) << manifest();
}

TEST_F(ProfileFindings, AnIdleGpuIsNamedWithTheBusyOne) {
  const test::FakeSysfs sysfs;
  sysfs.add_gpu(128, "0000:c1:00.0", "aa", 350);
  sysfs.add_gpu(129, "0000:c2:00.0", "bb", 90);
  sysfs.put(129, "gpu_busy_percent", "0");
  const RunResult r =
      profile({"--sysfs-root", sysfs.root(), "--sample-rate", "0.02", "--compat-outputs", "--tool",
               "gpu_info_power_profiler", "--tool", "gpu_info_vram_profiler"},
              {"sleep", "0.3"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "idle-device");
  EXPECT_NE(r.err.find("GPU 1 was idle in every sample"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("GPU 0 was busy"), std::string::npos) << r.err;
  // the documented files exist too
  const std::string power = test::bytes_of(folder_.path("gpu_info_power_profiler_output.csv"));
  EXPECT_EQ(power.rfind("time,Power(Watt) GPU0,Power(Watt) GPU1\n", 0), 0U) << power;
  const std::string vram = test::bytes_of(folder_.path("gpu_info_vram_profiler_output.csv"));
  EXPECT_EQ(vram.rfind("time,vram(%) GPU0,vram(%) GPU1\n", 0), 0U) << vram;
  const std::size_t mean = manifest().find("\"mean_w\": ");
  ASSERT_NE(mean, std::string::npos) << manifest();
  EXPECT_NEAR(std::stod(manifest().substr(mean + 10)), 350, 1e-9);
}

TEST_F(ProfileFindings, ASamplerWithoutAGpuStopsTheRunBeforeTheCommand) {
  RunResult r = profile(
      {"--sysfs-root", folder_.path("empty"), "--tool", "A", "--tool", "gpu_info_power_profiler"},
      {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  expect_code(r, "tool-not-started");
  EXPECT_TRUE(order().empty());
  r = profile({"--sysfs-root", folder_.path("empty"), "--keep-going", "--tool", "A", "--tool",
               "gpu_info_power_profiler"},
              {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "tool-not-started");
  EXPECT_FALSE(order().empty());
}

TEST_F(ProfileFindings, TheDoctorLooksForTheGpuOfSamplers) {
  RunResult r = test::run_binary({"profile", "doctor", "--sysfs-root", folder_.path("empty"),
                                  "--tool", "gpu_info_power_profiler"});
  EXPECT_EQ(r.code, 7) << r.err;
  EXPECT_NE(r.out.find("0 of 1 tools can run"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("tool-not-started"), std::string::npos) << r.out;
  const test::FakeSysfs sysfs;
  sysfs.add_gpu(128, "0000:c1:00.0", "aa", 350);
  r = test::run_binary(
      {"profile", "doctor", "--sysfs-root", sysfs.root(), "--tool", "gpu_info_power_profiler"});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("1 of 1 tools can run"), std::string::npos) << r.out;
}

TEST_F(ProfileFindings, ATracerAndASamplerTogetherSurviveAKill) {
  const test::FakeSysfs sysfs;
  sysfs.add_gpu(128, "0000:c1:00.0", "aa", 350);
  // `exec`: a shell that has just forked loses a SIGINT and continues
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    Result<Process> run = begin(
        {"--sysfs-root", sysfs.root(), "--sample-rate", "0.01", "--tool", "tracer", "--tool",
         "gpu_info_power_profiler"},
        {"sh", "-c",
         "echo $$ >> pids; csv=out/gpu_info_power_profiler/gpu_info_power_profiler_output.csv;"
         "while [ $(wc -l < $csv) -lt 30 ]; do sleep 0.02; done; echo $$ >> pids; exec sleep 100"},
        2);
    ASSERT_TRUE(run);
    ::kill(run->pid(), signal);
    const Result<ProcessEnd> end = run->wait();
    ASSERT_TRUE(end);
    EXPECT_TRUE(signal == SIGKILL ? end->signal == SIGKILL : end->exit_code == 128 + signal)
        << end->describe();
    expect_no_orphan();
    const std::string csv = test::bytes_of(
        folder_.path("out/gpu_info_power_profiler/gpu_info_power_profiler_output.csv"));
    EXPECT_GT(std::count(csv.begin(), csv.end(), '\n'), 20) << csv;
    EXPECT_EQ(csv.back(), '\n'); // complete rows
  }
}

TEST_F(ProfileFindings, OverheadIsMeasuredAgainstARunWithoutTools) {
  table(R"({"tools": {"slow": {"shell": true, "cmd": "sleep 0.4; "}}})");
  RunResult r = with({"--baseline", "3", "--tool", "slow"}, {"sleep", "0.1"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "tool-overhead");
  EXPECT_NE(manifest().find("\"factor\""), std::string::npos);
  table(R"({"tools": {"quick": {"env_vars": {"Q": "1"}}}})");
  r = with({"--baseline", "--tool", "quick"}, {"sleep", "2"}); // a tenth of its duration is noise
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_FALSE(has_code("tool-overhead")) << manifest();
  EXPECT_NE(manifest().find("\"baseline_s\""), std::string::npos);
  // without a tool, only the noise of the command is measured
  r = with({"--baseline"}, {"sh", "-c", "test -e second && sleep 0.5; touch second"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_FALSE(has_code("tool-overhead")) << manifest();
}

TEST_F(ProfileFindings, ALibraryThatIsNotUsedIsTold) {
  const RunResult r = profile({"--compat-outputs", "--tool", "miopen_trace"}, {"sleep", "0.2"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "unused-library");
  // the file exists, without rows
  EXPECT_EQ(test::bytes_of(folder_.path("library_trace.csv")),
            "jobid,created_date,model,library,config,calls\n");
}

TEST_F(ProfileFindings, ALibraryThatIsUsedAndSaysNothingIsTold) {
  // a library that is loaded with this name
  void* const known = ::dlopen(LIBM_SO, RTLD_LAZY);
  ASSERT_NE(known, nullptr);
  Dl_info info = {};
  ASSERT_NE(::dladdr(::dlsym(known, "cos"), &info), 0);
  std::filesystem::copy_file(info.dli_fname, folder_.path("libMIOpen.so.1"));
  Words command = {"sh", "-c", "LD_PRELOAD=$PWD/libMIOpen.so.1 sleep 0.6"};
  RunResult r = profile({"--tool", "miopen_trace"}, command);
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "silent-library");
  command[2] = "unset MIOPEN_ENABLE_LOGGING_CMD; " + command[2];
  r = profile({"--tool", "miopen_trace"}, command);
  expect_code(r, "silent-library");
  EXPECT_NE(r.err.find("MIOPEN_ENABLE_LOGGING_CMD is not set in that process"), std::string::npos)
      << r.err;
}

TEST_F(ProfileFindings, LinesOfLibrariesAreCountedAndPassedThrough) {
  const std::string line =
      "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 --alpha 1 "
      "--lda 64 --ldb 32 --beta 0 --ldc 64";
  folder_.write("log", line + "\n" + line + "\nother\n");
  const RunResult r =
      profile({"--tool", "rocblas_trace", "--tool", "miopen_trace", "--compat-outputs"},
              {"sh", "-c", "cat log >&2; echo $ROCBLAS_LAYER"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "6\n");
  EXPECT_NE(r.err.find(line), std::string::npos);
  const std::string csv = test::bytes_of(folder_.path("library_trace.csv"));
  EXPECT_NE(csv.find(",rocblas,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",2\n"), std::string::npos) << csv;
  EXPECT_TRUE(has_code("unused-library")); // about MIOpen, which has no rows
}

TEST_F(ProfileFindings, LinesOfLibrariesAreHiddenOnRequestAndStayInTheLog) {
  const std::string line =
      "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 --alpha 1 "
      "--lda 64 --ldb 32 --beta 0 --ldc 64";
  folder_.write("log", "before\n" + line + "\n" + line + "\nafter without an end");
  Words flags = {"--tool", "rocblas_trace", "--hide-trace-lines"};
  RunResult r = profile(flags, {"sh", "-c", "cat log; cat log >&2"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "before\nafter without an end");
  EXPECT_EQ(r.err.find("rocblas-bench -f"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.rfind("before\nafter without an end", 0), 0U) << r.err;
  const std::string log = test::bytes_of(folder_.path("out/run.log"));
  EXPECT_NE(log.find("out " + line), std::string::npos) << log;
  const std::string csv = test::bytes_of(folder_.path("out/library_trace/library_trace.csv"));
  EXPECT_NE(csv.find(",4\n"), std::string::npos) << csv;
  // with --json, the command's output is on standard error, also without those lines
  std::filesystem::remove_all(folder_.path("out"));
  Words words = arguments(flags, {"cat", "log"});
  words.insert(words.begin(), "--json");
  r = test::run_binary(words);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err.rfind("before\nafter without an end", 0), 0U) << r.err;
  EXPECT_EQ(r.out.rfind("{", 0), 0U) << r.out;
}

TEST_F(ProfileFindings, LinesThatCannotBeReadAreShown) {
  const RunResult r = profile({"--tool", "rccl_trace"},
                              {"sh", "-c", "echo 'h:1:2 [0] NCCL INFO AllReduce: opCount zz'"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "damaged-log-lines");
}

TEST_F(ProfileFindings, AnUnwritableFolderFailsAtTheStart) {
  folder_.write("file", "");
  const RunResult r = test::run_binary({"profile", "--out", "file/below", "--", "./app.sh", "0"});
  EXPECT_EQ(r.code, 6);
  EXPECT_TRUE(order().empty());
}

TEST_F(ProfileFindings, LinesThatLookLikeFailuresAreShownAndTheStatusCounts) {
  RunResult r = profile({}, {"sh", "-c", "echo fine; echo 'RuntimeError: not really'"});
  EXPECT_EQ(r.code, 0);
  expect_code(r, "failure-in-log");
  EXPECT_NE(r.err.find("run.log:2:"), std::string::npos) << r.err;
  r = profile({}, {"sh", "-c", "echo fine"});
  EXPECT_FALSE(has_code("failure-in-log"));
}

TEST_F(ProfileFindings, APrintedFigureBecomesARowOfPerfCsv) {
  RunResult r = profile({"--perf-csv", "perf.csv", "--tool", "A"},
                        {"sh", "-c", "echo performance: 42.5 samples/s, throughput"});
  EXPECT_EQ(r.code, 0) << r.err;
  r = profile({"--perf-csv", "perf.csv"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "missing-metric");
  EXPECT_NE(r.err.find("its cells in perf.csv are empty"), std::string::npos) << r.err;
  r = profile({"--perf-csv", "perf.csv"}, {"./app.sh", "3"});
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_FALSE(has_code("missing-metric"));
  std::istringstream in(test::bytes_of(folder_.path("perf.csv")));
  Words lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].rfind("model,n_gpus,", 0), 0U);
  EXPECT_NE(lines[1].find(",profiled=true,"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find(",42.5,throughput,,SUCCESS,"), std::string::npos) << lines[1];
  EXPECT_EQ(lines[2].find("profiled"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find(",,,,SUCCESS,"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find(",FAILURE,"), std::string::npos) << lines[3];
  folder_.write("other.csv", "a,b\n");
  r = profile({"--perf-csv", "other.csv", "--tool", "A"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 2) << r.err;
  EXPECT_TRUE(order().empty()) << "before anything starts";
}

TEST_F(ProfileFindings, ATearDownThatFailsIsTold) {
  table(R"({"tools": {"t": {"post_scripts": [{"path": "./fail.sh", "args": "post t"}]}}})");
  const RunResult r = with({"--tool", "t"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  expect_code(r, "failed-tear-down");
}

} // namespace
} // namespace rankscope
