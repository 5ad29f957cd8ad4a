// Tests rankscope sweep with small workloads: the documented tree, the environment of a run, all
// kinds of ends, and continuing an ended sweep.
#include "file_size_limit.h"
#include "os/process.h"
#include "run_binary.h"
#include "temp_folder.h"
#include "waiting.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <simdjson.h>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::alive;
using test::soon;
using SweepWords = std::vector<std::string>;

class SweepRuns : public ::testing::Test {
protected:
  [[nodiscard]] std::string out() const { return folder_.path("sweep"); }
  [[nodiscard]] SweepWords arguments(const SweepWords& flags, const SweepWords& command) const {
    SweepWords all = {"sweep", "-o", out(), "--no-nccl-log"};
    all.insert(all.end(), flags.begin(), flags.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  [[nodiscard]] test::RunResult sweep(const SweepWords& flags, const SweepWords& command) const {
    return test::run_binary(arguments(flags, command));
  }
  [[nodiscard]] test::RunResult sweep(const SweepWords& flags, const std::string& script) const {
    return sweep(flags, SweepWords{"sh", "-c", script});
  }
  [[nodiscard]] std::string read(const std::string& below) const {
    return test::bytes_of(out() + "/" + below);
  }
  /// Returns a member of a run's manifest as text.
  [[nodiscard]] std::string manifest(const std::string& run, const char* key) const {
    simdjson::dom::parser parser;
    simdjson::dom::element value;
    const std::string text = read(run + "/manifest.json");
    if (parser.parse(text)[key].get(value) != simdjson::SUCCESS)
      return "(none)";
    return simdjson::minify(value);
  }
  [[nodiscard]] std::string file_like(const std::string& pattern) const {
    for (const auto& entry : fs::directory_iterator(out()))
      if (std::regex_match(entry.path().filename().string(), std::regex(pattern)))
        return entry.path().string();
    return "";
  }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> list;
    std::istringstream in(test::bytes_of(folder_.path("pids")));
    for (pid_t pid = 0; in >> pid;)
      list.push_back(pid);
    return list;
  }

  test::TempFolder folder_;
};

constexpr const char* kFirst = "256thread/nccl_28channels";

TEST_F(SweepRuns, TheDocumentedTree) {
  const auto r = sweep({"-c", "28,56", "-t", "256,512"},
                       "echo $NCCL_MAX_NCHANNELS $RCCL_THREADS_PER_BLOCK $HSA_ENABLE_SDMA >&2");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(read("256thread/nccl_28channels/run_output.log"), "28 256 0\n");
  EXPECT_EQ(read("512thread/nccl_56channels/run_output.log"), "56 512 0\n");
  EXPECT_EQ(manifest(kFirst, "status"), "\"success\"");
  EXPECT_EQ(manifest(kFirst, "exit_code"), "0");
  EXPECT_NE(manifest(kFirst, "clocks_begin").find("boottime_ns"), std::string::npos);
  const std::string summary =
      test::bytes_of(file_like(R"(nccl_thread_sweep_summary_\d{8}_\d{6}\.txt)"));
  EXPECT_NE(summary.find("THREADS    CHANNELS        STATUS     DURATION(s)    \n" +
                         std::string(52, '-') +
                         "\n256        28              SUCCESS    0              \n"
                         "256        56              SUCCESS    0              \n\n512        28"),
            std::string::npos)
      << summary;
  EXPECT_NE(summary.find("Output directories:\n  THREADS=256:\n    - " + out() +
                         "/256thread/nccl_28channels/\n"),
            std::string::npos)
      << summary;
  const std::string log = test::bytes_of(file_like(R"(nccl_thread_sweep_\d{8}_\d{6}\.log)"));
  std::istringstream lines(log);
  const std::regex form(R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] .+)");
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(std::regex_match(line, form)) << line;
  EXPECT_EQ(log.find('\x1b'), std::string::npos);
}

TEST_F(SweepRuns, PairsOfTheWarpSpeedScript) {
  const auto r =
      sweep({"-p", "56,256 37,384"}, "echo $RCCL_WARP_SPEED_CU_COUNT,$RCCL_THREADS_PER_BLOCK,"
                                     "$RCCL_WARP_SPEED_ENABLE,$RCCL_UNROLL_FACTOR");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(read("56cu_256threads/run_output.log"), "56,256,1,1\n");
  EXPECT_EQ(read("37cu_384threads/run_output.log"), "37,384,1,1\n");
  const std::string summary =
      test::bytes_of(file_like(R"(rccl_warp_speed_summary_\d{8}_\d{6}\.txt)"));
  EXPECT_NE(
      summary.find("CONFIGURATION        CU_COUNT   THREADS         STATUS    \n" +
                   std::string(64, '-') +
                   "\n56cu_256threads      56         256             SUCCESS    (duration: 0s)\n"),
      std::string::npos)
      << summary;
  EXPECT_NE(file_like(R"(rccl_warp_speed_comparison_\d{8}_\d{6}\.log)"), "");
}

TEST_F(SweepRuns, ArgumentsArriveAsTheyAre) {
  const SweepWords unusual = {"",   "a b",   "\"q\" 'p'", "$HOME `id`",     "x\ny",           "--",
                              "-q", "[a,b]", "a,b",       "{\"json\": {}}", "--all_of_it=a_b"};
  SweepWords command = {"sh", "-c", "for a; do printf '<%s>' \"$a\"; done", "sh"};
  command.insert(command.end(), unusual.begin(), unusual.end());
  const auto r = sweep({"-c", "28", "-t", "256"}, command);
  EXPECT_EQ(r.code, 0) << r.err;
  std::string expected;
  for (const std::string& word : unusual)
    expected += "<" + word + ">";
  EXPECT_EQ(read(std::string(kFirst) + "/run_output.log"), expected);
}

TEST_F(SweepRuns, DryRunPrintsWhatRunsAndMakesNothing) {
  const auto r = sweep({"-c", "28", "-t", "256", "--dry-run", "--env", "ODD=it's $HOME"},
                       SweepWords{"prog", "a b", "{out}"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("NCCL_MAX_NCHANNELS=28 "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("ODD='it'\\''s $HOME' prog 'a b' " + out() + "/" + kFirst + "\n"),
            std::string::npos)
      << r.out;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SweepRuns, AFailureEndsTheSweepUnlessToldToKeepGoing) {
  const std::string script = "test $NCCL_MAX_NCHANNELS != 28 || exit 3";
  auto r = sweep({"-c", "28,56", "-t", "256"}, script);
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.err.find("exit code 3"), std::string::npos) << r.err;
  EXPECT_EQ(manifest(kFirst, "status"), "\"failed\"");
  EXPECT_EQ(manifest(kFirst, "exit_code"), "3");
  EXPECT_FALSE(fs::exists(out() + "/256thread/nccl_56channels"));
  EXPECT_NE(r.out.find("256        56              UNKNOWN    N/A "), std::string::npos) << r.out;
  r = sweep({"-c", "28,56", "-t", "256", "--keep-going"}, script);
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(manifest("256thread/nccl_56channels", "status"), "\"success\"");
  EXPECT_TRUE(fs::exists(out() + "/.rankscope/aside/256thread/nccl_28channels.1/run_output.log"));
}

TEST_F(SweepRuns, ASignalOfTheWorkloadIsTold) {
  const auto r = sweep({"-c", "28", "-t", "256"}, "kill -9 $$");
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(manifest(kFirst, "signal"), "9");
  EXPECT_EQ(manifest(kFirst, "exit_code"), "null");
  EXPECT_NE(r.err.find("signal 9"), std::string::npos) << r.err;
}

TEST_F(SweepRuns, AProgramThatIsNotThere) {
  const auto r = sweep({"-c", "28", "-t", "256"}, SweepWords{"rankscope-no-such-program"});
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.err.find("rankscope-no-such-program: no such program"), std::string::npos) << r.err;
}

TEST_F(SweepRuns, ATimeOutEndsAllOfARun) {
  const auto r = sweep({"-c", "28", "-t", "256", "--timeout", "3", "--grace", "0.2"},
                       "setsid sh -c 'trap \"\" TERM; echo $$ >> " + folder_.path("pids") +
                           "; while :; do sleep 0.05; done' & wait");
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(manifest(kFirst, "status"), "\"timeout\"");
  ASSERT_EQ(pids().size(), 1U);
  EXPECT_FALSE(alive(pids().front()));
}

TEST_F(SweepRuns, FinishedRunsAreNotRunAgain) {
  const std::string script = "echo $NCCL_MAX_NCHANNELS >> " + folder_.path("ran");
  const SweepWords flags = {"-c", "28,56", "-t", "256"};
  EXPECT_EQ(sweep(flags, script).code, 0);
  EXPECT_EQ(sweep({"-c", "28,56,70", "-t", "256"}, script).code, 0); // one more setting
  EXPECT_EQ(test::bytes_of(folder_.path("ran")), "28\n56\n70\n");
  // the sweep has one log and one summary
  std::size_t logs = 0;
  for (const auto& entry : fs::directory_iterator(out()))
    logs += entry.path().extension() == ".log" ? 1U : 0U;
  EXPECT_EQ(logs, 1U);
  const auto other = sweep(flags, script + " # another command");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("another command"), std::string::npos) << other.err;
  EXPECT_EQ(sweep({"-c", "28", "-t", "256", "--redo"}, script).code, 0);
  EXPECT_EQ(test::bytes_of(folder_.path("ran")), "28\n56\n70\n28\n");
}

// HA-B4: a run is reused only with the same inherited variables, input files and traces.
TEST_F(SweepRuns, AFinishedRunWithOtherInputsIsNotReused) {
  const SweepWords flags = {"-c", "28", "-t", "256"};
  const std::string config = folder_.write("cfg.yaml", "a: 1\n");
  const SweepWords command = {"sh", "-c", "echo $NCCL_ALGO; echo '[]' > $RANKSCOPE_RUN_DIR/t.json",
                              "sh", config};
  ::setenv("NCCL_ALGO", "Ring", 1);
  EXPECT_EQ(sweep(flags, command).code, 0);
  EXPECT_NE(sweep(flags, command).err.find("done in an earlier run"), std::string::npos);
  ::setenv("NCCL_ALGO", "Tree", 1);
  auto r = sweep(flags, command);
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("NCCL_ALGO was 'Ring' and is now 'Tree'"), std::string::npos) << r.err;
  ::setenv("NCCL_ALGO", "Ring", 1);
  folder_.write("cfg.yaml", "a: 2\n");
  r = sweep(flags, command);
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("the file " + config + " has changed"), std::string::npos) << r.err;
  folder_.write("cfg.yaml", "a: 1\n");
  fs::remove(out() + "/" + kFirst + "/t.json");
  r = sweep(flags, command);
  ::unsetenv("NCCL_ALGO");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("its trace t.json no longer exists"), std::string::npos) << r.err;
  EXPECT_TRUE(fs::exists(out() + "/" + kFirst + "/t.json")) << "run again";
}

// HA-B16, HA-M3: the tables contain all runs in the folder.
TEST_F(SweepRuns, MoreSettingsInTheSameFolderAndTheirMetrics) {
  const std::string script = "echo \"throughput $NCCL_MAX_NCHANNELS samples/s\"; "
                             "[ $NCCL_MAX_NCHANNELS != 42 ] || exit 3";
  SweepWords flags = {"-t",           "256", "--metric", "max:throughput ([0-9]+)",
                      "--keep-going", "-c",  "28,42"};
  EXPECT_EQ(sweep(flags, script).code, 4);
  flags.back() = "70";
  const auto r = test::run_binary(arguments(flags, {"sh", "-c", script}));
  EXPECT_EQ(r.code, 0) << r.err;
  std::istringstream csv(read("metrics.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);)
    lines.push_back(line);
  ASSERT_EQ(lines.size(), 4U) << read("metrics.csv");
  EXPECT_EQ(lines[0], "setting,repeat,metric,seconds,joules,exit,joules_per_step,host_joules");
  EXPECT_EQ(lines[1].find("256thread_28ch,,28.0,"), 0U) << lines[1];
  EXPECT_TRUE(lines[1].ends_with(",,0,,")) << lines[1];
  EXPECT_EQ(lines[2].find("256thread_42ch,,,"), 0U) << lines[2];
  EXPECT_TRUE(lines[2].ends_with(",,3,,")) << lines[2];
  EXPECT_EQ(lines[3].find("256thread_70ch,,70.0,"), 0U) << lines[3];
  EXPECT_NE(read("metrics.json").find("256thread_28ch"), std::string::npos);
  const std::string summary = test::bytes_of(file_like("nccl_thread_sweep_summary_.*txt"));
  for (const char* row : {"256        28              SUCCESS", "256        42              FAILED",
                          "256        70              SUCCESS"})
    EXPECT_NE(summary.find(row), std::string::npos) << summary;
  EXPECT_NE(read("manifest.json").find("nccl_42channels"), std::string::npos);
}

// HA-M1, HA-M2: higher throughput is better; the first step differs from the others.
TEST_F(SweepRuns, AMetricThatIsBetterWhenItIsHigher) {
  const std::string script =
      "n=$(echo $RANKSCOPE_RUN_DIR | sed 's/.*repeat=\\([0-9]*\\).*/\\1/'); "
      "echo throughput 9999 samples/s; echo throughput $((NCCL_MAX_NCHANNELS * 10 + n)) samples/s";
  const SweepWords flags = {"-c",
                            "28,56",
                            "-t",
                            "256",
                            "--repeats",
                            "3",
                            "--metric",
                            "median:skip=1:throughput ([0-9]+)",
                            "--higher-is-better"};
  const auto r = sweep(flags, script);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("256thread_56ch is best: 562. Intervals: "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("256thread_28ch is 280 lower than 256thread_56ch"), std::string::npos)
      << r.out;
}

TEST_F(SweepRuns, AnOutlierIsReported) {
  const std::string script = "case $RANKSCOPE_RUN_DIR in *repeat=3*) echo time 10.2;; "
                             "*) echo time 1.0$NCCL_MAX_NCHANNELS;; esac";
  const auto r =
      sweep({"-c", "28,56", "-t", "256", "--repeats", "6", "--metric", "time ([0-9.]+)"}, script);
  EXPECT_NE(r.out.find("Repeat 3 of 256thread_28ch is an outlier: 10.2. "), std::string::npos)
      << r.out;
}

// HA-B18: settings that the library did not use are not compared.
TEST_F(SweepRuns, NoVerdictOverSettingsThatDidNotTakeEffect) {
  const auto r = test::run_binary(
      {"sweep", "-o", out(), "-c", "28,56,8", "-t", "256", "--repeats", "3", "--metric",
       "time ([0-9.]+)", "--", "sh", "-c",
       "echo 'h:1:1 [0] NCCL INFO NCCL_MAX_NCHANNELS set by environment to 8.'; "
       "echo 'h:1:1 [0] NCCL INFO NCCL_NTHREADS set by environment to 256.'; "
       "echo 'h:1:1 [0] NCCL INFO 8 coll channels, 0 nvls channels, 4 p2p channels'; "
       "echo 'NCCL version 2.21.5'; echo time $NCCL_MAX_NCHANNELS.0"});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_EQ(r.out.find("is best"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("did not use the value that was set. 256thread_28ch and 256thread_56ch."),
            std::string::npos)
      << r.out;
}

// A setting that the library did not use in one of three runs is left out with all its runs.
TEST_F(SweepRuns, ASettingIsEitherRankedOrLeftOut) {
  const std::string script =
      "n=$1; [ $1$2 != 283 ] || n=8; echo \"h:1:1 [0] NCCL INFO NCCL_MAX_NCHANNELS set by "
      "environment to $n.\"; echo 'h:1:1 [0] NCCL INFO NCCL_NTHREADS set by environment to 256.'; "
      "echo step $1.$2 ms";
  SweepWords words = {"sweep", "-o",        out(),  "-c",       "28,42,56",       "-t",
                      "256",   "--repeats", "3",    "--metric", "step ([0-9.]+)", "--",
                      "sh",    "-c",        script, "sh",       "{channels}",     "{repeat}"};
  auto r = test::run_binary(words);
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.out.find("256thread_42ch is best: 42.2. "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("did not use the value that was set. 256thread_28ch."), std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("256thread_28ch is"), std::string::npos) << r.out;
  // the same runs as a search, of which this setting is the default
  words.insert(words.begin() + 1, "--search");
  r = test::run_binary(words);
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("the search ends: its default is left out"), std::string::npos) << r.err;
  EXPECT_EQ(r.out.find("recommended"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("did not use the value that was set. 256thread_28ch."), std::string::npos)
      << r.out;
}

TEST_F(SweepRuns, AnIncompleteLogHasNoMetric) {
  const SweepWords flags = {"-c",       "28,42",          "-t",       "256", "--repeats", "2",
                            "--metric", "step ([0-9.]+)", "--no-echo"};
  // the value at the end of the log of 28 channels is lost
  const std::string script = "echo step 1; [ $NCCL_MAX_NCHANNELS != 28 ] || seq 9999; "
                             "echo step 99";
  test::RunResult r;
  {
    const test::FileSizeLimit limit(16384);
    r = sweep(flags, script);
  }
  const auto again = sweep(flags, script);
  for (const auto& result : {r, again}) {
    EXPECT_EQ(result.code, 4) << result.err;
    EXPECT_EQ(result.out.find("is best"), std::string::npos) << result.out;
    EXPECT_NE(result.err.find("--metric: no value in 2 of 4 runs"), std::string::npos)
        << result.err;
    EXPECT_NE(read("metrics.csv").find("256thread_28ch,1,,"), std::string::npos)
        << read("metrics.csv");
  }
  EXPECT_NE(again.err.find("done in an earlier run"), std::string::npos) << again.err;
}

// HA-B28: if --env sets a variable that the sweep varies, all runs would be equal.
TEST_F(SweepRuns, AVariableThatVariesIsNotSetByEnv) {
  const auto r = sweep({"-c", "28,42", "-t", "256", "--env", "NCCL_MAX_NCHANNELS=4"}, "true");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("NCCL_MAX_NCHANNELS is varied by the parameter channels"), std::string::npos)
      << r.err;
}

// HA-B30: two sweeps without -o that start in the same second.
TEST_F(SweepRuns, TwoDefaultSweepsOfOneSecondHaveTwoFolders) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const SweepWords all = {"sweep", "--no-nccl-log", "-c", "28", "-t", "256", "--", "true"};
  for (int i = 0; i < 3; ++i) {
    const auto r = test::run_binary(all);
    EXPECT_EQ(r.code, 0) << r.err;
  }
  fs::current_path(before);
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path("experiments")))
    folders += fs::exists(entry.path() / kFirst / "manifest.json") ? 1U : 0U;
  EXPECT_EQ(folders, 3U);
}

// HA-B31: NCCL_DEBUG of the caller is replaced, with a note.
TEST_F(SweepRuns, TheNcclLogOfTheCallerIsReplacedWithANote) {
  ::setenv("NCCL_DEBUG", "TRACE", 1);
  ::setenv("NCCL_DEBUG_SUBSYS", "INIT", 1);
  const auto replaced = test::run_binary(
      {"sweep", "-o", out(), "-c", "28", "-t", "256", "--", "sh", "-c", "echo $NCCL_DEBUG"});
  const auto kept = test::run_binary({"sweep", "-o", folder_.path("kept"), "--no-nccl-log", "-c",
                                      "28", "-t", "256", "--", "sh", "-c", "echo $NCCL_DEBUG"});
  ::unsetenv("NCCL_DEBUG");
  ::unsetenv("NCCL_DEBUG_SUBSYS");
  EXPECT_EQ(read(std::string(kFirst) + "/run_output.log"), "INFO\n");
  for (const char* note : {"NCCL_DEBUG=TRACE of your environment is replaced",
                           "NCCL_DEBUG_SUBSYS=INIT of your environment is replaced"}) {
    EXPECT_NE(replaced.err.find(note), std::string::npos) << replaced.err;
    EXPECT_EQ(kept.err.find(note), std::string::npos) << kept.err;
  }
  EXPECT_EQ(test::bytes_of(folder_.path("kept/") + kFirst + "/run_output.log"), "TRACE\n");
}

TEST_F(SweepRuns, FoldersOfAnotherProgramAreMovedAsideOrLeftAlone) {
  folder_.write("sweep/" + std::string(kFirst) + "/old.txt", "x");
  auto r = sweep({"-c", "28", "-t", "256", "-s"}, "true");
  EXPECT_NE(r.out.find("SKIPPED"), std::string::npos) << r.out;
  EXPECT_TRUE(fs::exists(out() + "/" + kFirst + "/old.txt"));
  r = sweep({"-c", "28", "-t", "256"}, "true");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_FALSE(fs::exists(out() + "/" + kFirst + "/old.txt"));
  EXPECT_EQ(read(".rankscope/aside/" + std::string(kFirst) + ".1/old.txt"), "x");
}

TEST_F(SweepRuns, RepeatsShuffleAndWarmUp) {
  const std::string script = "echo $NCCL_MAX_NCHANNELS >> " + folder_.path("ran");
  const SweepWords flags = {"-c",        "1,2,3,4,5,6", "-t", "256",      "--repeats", "2",
                            "--shuffle", "--seed",      "7",  "--warmup", "1"};
  EXPECT_EQ(sweep(flags, script).code, 0);
  std::vector<int> ran;
  std::istringstream in(test::bytes_of(folder_.path("ran")));
  for (int n = 0; in >> n;)
    ran.push_back(n);
  ASSERT_EQ(ran.size(), 18U);
  std::vector<int> once; // each after its warm-up
  for (std::size_t i = 0; i < 12; i += 2) {
    EXPECT_EQ(ran[i], ran[i + 1]);
    once.push_back(ran[i]);
  }
  std::vector<int> twice(ran.begin() + 12, ran.end());
  EXPECT_NE(once, twice);
  const std::vector<int> all = {1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(once != all || twice != all);
  std::sort(once.begin(), once.end());
  std::sort(twice.begin(), twice.end());
  EXPECT_EQ(once, all);
  EXPECT_EQ(twice, all);
  EXPECT_EQ(manifest("repeat=2/256thread/nccl_3channels", "repeat"), "2");
}

TEST_F(SweepRuns, AMatrixOfVariablesAndArguments) {
  const std::string matrix = folder_.write(
      "m.json", R"({"parameters": {"proto": {"env": "NCCL_PROTO", "values": ["LL", null]},
                                   "batch": [16]}})");
  ::setenv("NCCL_PROTO", "Simple", 1);
  const auto r = sweep({"--matrix", matrix},
                       SweepWords{"sh", "-c", "echo ${NCCL_PROTO-none} $1", "sh", "b={batch}"});
  ::unsetenv("NCCL_PROTO");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(read("proto=LL/batch=16/run_output.log"), "LL b=16\n");
  EXPECT_EQ(read("proto=default/batch=16/run_output.log"), "none b=16\n");
  const auto unused = sweep({"--matrix", matrix}, "true");
  EXPECT_EQ(unused.code, 2);
  EXPECT_NE(unused.err.find("parameter batch changes nothing"), std::string::npos) << unused.err;
}

TEST_F(SweepRuns, WhatDidNotTakeEffectIsAFinding) {
  const auto r = test::run_binary(
      {"sweep", "-o", out(), "-c", "28,56", "-t", "256", "--", "sh", "-c",
       "f=$(echo $NCCL_DEBUG_FILE | sed s/%h/host/\\;s/%p/$$/); "
       "echo \"h:1:1 [0] NCCL INFO NCCL_MAX_NCHANNELS set by environment to $NCCL_MAX_NCHANNELS.\" "
       "> $f; "
       "echo \"h:1:1 [0] NCCL INFO NCCL_NTHREADS set by environment to 256.\" >> $f; "
       "echo 'h:1:1 [0] NCCL INFO 28 coll channels, 0 nvls channels, 4 p2p channels' >> $f; "
       "echo 'NCCL version 2.21.5'"});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_EQ(manifest(kFirst, "findings"), "[]");
  EXPECT_NE(manifest(kFirst, "library").find("2.21.5"), std::string::npos);
  EXPECT_EQ(manifest("256thread/nccl_56channels", "findings"),
            "[\"28 channels were used, not 56. The library's log states the number.\"]");
  EXPECT_NE(r.out.find("256thread_56ch: 28 channels were used, not 56."), std::string::npos)
      << r.out;
}

TEST_F(SweepRuns, WrongFlagsAreNamed) {
  const std::pair<SweepWords, const char*> cases[] = {
      // NOLINT(modernize-avoid-c-arrays)
      {{"-c", "28,28"}, "twice"},
      {{"-p", "56,256", "-c", "28"}, "exclude -c and -t"},
      {{}, "needs settings"},
      {{"-c", "28", "--env", "X"}, "NAME=VALUE"},
      {{"-c", "28", "-p", "4"}, "needs a launcher"},
      {{"-c", "28", "--repeats", "0"}, "--repeats"},
      {{"-c", "28", "--container", "compose:"}, "SERVICE"}};
  for (const auto& [flags, word] : cases) {
    const auto r = sweep(flags, "true");
    EXPECT_EQ(r.code, 2) << word;
    EXPECT_NE(r.err.find(word), std::string::npos) << r.err;
  }
  const auto none = test::run_binary({"sweep", "-c", "28", "-o", out()});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no command"), std::string::npos) << none.err;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SweepRuns, ASearchRunsWhatMayBeBestAndSaysByHowMuch) {
  // 56 channels take 8 s, 28 (the default) 10 s, 70 take 30 s; the times of runs vary
  const std::string script = "case $NCCL_MAX_NCHANNELS in 28) t=10;; 56) t=8;; *) t=30;; esac; "
                             "n=$(echo $RANKSCOPE_RUN_DIR | sed 's/.*repeat=\\([0-9]*\\).*/\\1/'); "
                             "echo \"time $t.0$((n * n * NCCL_MAX_NCHANNELS % 10)) s\"";
  const SweepWords flags = {"-c",       "28,56,70",         "-t",       "256", "--search",
                            "--metric", "time ([0-9.]+) s", "--no-echo"};
  auto r = sweep(flags, script);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("256thread_56ch is recommended: 1.99 lower than the default "
                       "256thread_28ch"),
            std::string::npos)
      << r.out;
  EXPECT_TRUE(fs::exists(out() + "/repeat=2/256thread/nccl_70channels"));
  EXPECT_FALSE(fs::exists(out() + "/repeat=3/256thread/nccl_70channels")); // significantly worse
  // the same search again: nothing is run, and the result is the same
  const auto again = sweep(flags, script);
  EXPECT_EQ(again.err.find("begins"), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("256thread_56ch is recommended"), std::string::npos) << again.out;
  // no setting is better than the default
  fs::remove_all(out());
  SweepWords best = flags;
  best.insert(best.end(), {"--default", "256thread_56ch"});
  r = sweep(best, script);
  EXPECT_NE(r.out.find("No setting is recommended in place of 256thread_56ch. The default leads"),
            std::string::npos)
      << r.out;
}

TEST_F(SweepRuns, ASearchWhoseDefaultFailsDoesNotSayThatItLeads) {
  const auto r = sweep(
      {"-c", "28,56", "-t", "256", "--search", "--metric", "time ([0-9.]+)", "--repeats", "2"},
      "test $NCCL_MAX_NCHANNELS = 56 && echo time 3");
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.err.find("round 2: 2 of 2 settings are left, the default has no value"),
            std::string::npos)
      << r.err;
  EXPECT_NE(r.out.find("The default has no value"), std::string::npos) << r.out;
}

TEST_F(SweepRuns, ASearchEndsWithItsBudgetAndWithoutFigures) {
  SweepWords flags = {"-c",       "28,56",          "-t",       "256",   "--search",
                      "--metric", "time ([0-9.]+)", "--budget", "0.0001"};
  auto r = sweep(flags, "echo time 3");
  EXPECT_NE(r.err.find("would exceed the time limit (--budget)"), std::string::npos) << r.err;
  EXPECT_FALSE(fs::exists(out() + "/repeat=2"));
  EXPECT_NE(r.out.find("No setting is recommended"), std::string::npos) << r.out;
  fs::remove_all(out());
  r = sweep(flags, "echo nothing");
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.err.find("no run of this round has a metric"), std::string::npos) << r.err;
  fs::remove_all(out());
  flags.back() = "0.02"; // 1.2 s; 15 more runs would take 3 s
  r = sweep(flags, "sleep 0.2; echo time 3");
  EXPECT_NE(r.err.find("[2/16] 256thread_56ch, repeat 1: begins, at most about 1 s left"),
            std::string::npos)
      << r.err;
  flags[6] = "([";
  EXPECT_EQ(sweep(flags, "true").code, 2);
}

TEST_F(SweepRuns, TracesAreAnalysedAndTheVerdictIsInTheSummary) {
  // instead of training, each run copies the traces of its setting from a generated sweep
  for (const std::string seed : {"1", "2"})
    ASSERT_EQ(test::run_binary({"synth", folder_.path("synth" + seed), "--threads", "256",
                                "--channels", "28,56", "--ranks", "2", "--steps", "6", "--seed",
                                seed, "--straggler", "none"})
                  .code,
              0);
  const auto copy_of = [this](const std::string& seed) -> SweepWords {
    return {"cp", "-r",
            folder_.path("synth" + seed) +
                "/{threads}thread/nccl_{channels}channels/torch_profiler",
            "{out}"};
  };
  auto r = sweep({"-c", "28,56", "-t", "256", "--analyze"}, copy_of("1"));
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string summary = test::bytes_of(file_like("nccl_thread_sweep_summary_.*txt"));
  EXPECT_NE(summary.find("Findings:\n  - 28 channels are fastest: "), std::string::npos) << summary;
  EXPECT_TRUE(fs::exists(out() + "/tracelens_analysis/256thread/individual_reports/"
                                 "perf_56ch_rank1.xlsx"));
  // the finished sweep again: its outputs are no inputs of the analysis
  r = sweep({"-c", "28,56", "-t", "256", "--analyze"}, copy_of("1"));
  EXPECT_EQ(r.code, 0) << r.err;
  fs::remove_all(out());
  r = sweep({"-c", "28,56", "-t", "256", "--analyze", "--repeats", "2"}, copy_of("{repeat}"));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("a sample is a run; 2 runs each"), std::string::npos) << r.out;
}

// Without traces, the search for other formats reads the sweep's own files. They were then inputs,
// and the sweep stopped at the next manifest.
TEST_F(SweepRuns, RunsWithoutTracesDoNotStopTheSweep) {
  const auto r = sweep({"-c", "28,56", "-t", "256", "--analyze"}, SweepWords{"true"});
  EXPECT_NE(r.err.find("no trace found"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("is an input"), std::string::npos) << r.err;
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.out.find("2 of 2 runs succeeded"), std::string::npos) << r.out;
}

// The traces of a failed run contain only a part of its work, so they are not used.
TEST_F(SweepRuns, TracesOfAFailedRunAreLeftOut) {
  ASSERT_EQ(test::run_binary({"synth", folder_.path("synth"), "--threads", "256", "--channels",
                              "28,56", "--ranks", "2", "--steps", "3"})
                .code,
            0);
  const auto r =
      sweep({"-c", "28,56", "-t", "256", "--analyze", "--keep-going"},
            SweepWords{"sh", "-c",
                       "cp -r " + folder_.path("synth") +
                           "/{threads}thread/nccl_{channels}channels/torch_profiler {out} && "
                           "[ {channels} != 56 ]"});
  EXPECT_EQ(r.code, 4) << r.err;
  const std::string reports = out() + "/tracelens_analysis/256thread/individual_reports/";
  EXPECT_TRUE(fs::exists(reports + "perf_28ch_rank1.xlsx")) << r.err;
  EXPECT_FALSE(fs::exists(reports + "perf_56ch_rank1.xlsx"));
}

TEST_F(SweepRuns, AContainerThatOutlivesItsRunIsRemoved) {
  // a client that records its arguments; `run` does not end
  const std::string client = folder_.write(
      "bin/docker", "#!/bin/sh\nprintf '%s|' \"$@\" >> " + folder_.path("calls") + "; echo >> " +
                        folder_.path("calls") + "\n[ $1 != run ] || sleep 30\n");
  fs::permissions(client, fs::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder_.path("bin") + ":" + before).c_str(), 1);
  const auto r = sweep(
      {"-c", "28", "-t", "256", "--container", "image:1", "--timeout", "0.3", "--grace", "0.1"},
      SweepWords{"prog", "a b"});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(r.code, 4);
  std::istringstream calls(test::bytes_of(folder_.path("calls")));
  std::string run;
  std::string removed;
  std::getline(calls, run);
  std::getline(calls, removed);
  EXPECT_EQ(run.find("run|--rm|--init|"), 0U) << run;
  EXPECT_NE(run.find("|-e|NCCL_MAX_NCHANNELS=28|"), std::string::npos) << run;
  EXPECT_TRUE(run.ends_with("|image:1|prog|a b|")) << run;
  const std::string name = removed.substr(removed.find("-f|") + 3);
  EXPECT_EQ(removed.find("rm|-f|rankscope-"), 0U) << removed;
  EXPECT_NE(run.find("|--name|" + name), std::string::npos) << run;
}

TEST_F(SweepRuns, ATunerFileOfTheCollectives) {
  ASSERT_EQ(test::run_binary({"synth", folder_.path("synth"), "--threads", "256", "--channels",
                              "28,56", "--ranks", "2", "--steps", "6"})
                .code,
            0);
  const SweepWords command = {
      "cp", "-r", folder_.path("synth") + "/{threads}thread/nccl_{channels}channels/torch_profiler",
      "{out}"};
  const std::string file = folder_.path("tuner.csv");
  SweepWords flags = {"-c", "28,56", "-t", "256", "--write-tuner", file, "--env", "NCCL_ALGO=Ring"};
  auto r = sweep(flags, command);
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("one NCCL_PROTO"), std::string::npos) << r.err;
  flags.insert(flags.end(),
               {"--env", "NCCL_PROTO=Simple", "--default", "256thread_56ch", "--repeats", "2"});
  r = sweep(flags, command);
  EXPECT_EQ(r.code, 0) << r.err;
  // ranges from half to twice the measured sizes: 4 bytes, and 92,293,120 values of two bytes on
  // each of two ranks; 28 channels are not significantly faster
  const std::string text = test::bytes_of(file);
  std::string rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    rows += line.rfind('#', 0) == 0 ? "" : line + "\n";
  EXPECT_EQ(rows, "allgather,184586240,738344960,ring,simple,56,-1,2,-1,-1\n"
                  "allreduce,2,8,ring,simple,56,-1,2,-1,-1\n"
                  "reducescatter,184586240,738344960,ring,simple,56,-1,2,-1,-1\n");
}

/// Runs until the second workload runs, sends the signal to rankscope, and continues the sweep.
class SweepInterrupted : public SweepRuns, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(, SweepInterrupted, ::testing::Values(SIGINT, SIGTERM, SIGKILL),
                         [](const auto& kind) { return "Signal" + std::to_string(kind.param); });

TEST_P(SweepInterrupted, LeavesNoOrphanAndGoesOn) {
  const SweepWords flags = {"-c", "28,56,70", "-t", "256", "--grace", "0.3"};
  const std::string script =
      "echo $NCCL_MAX_NCHANNELS >> " + folder_.path("ran") +
      "; test $NCCL_MAX_NCHANNELS != 56 -o -e " + folder_.path("go") +
      " && exit 0; for i in 1 2; do setsid sh -c 'trap \"\" TERM INT; echo $$ >> " +
      folder_.path("pids") + "; while :; do sleep 0.05; done' & done; wait";
  ProcessSpec spec;
  spec.argv = {test::binary()};
  const SweepWords words = arguments(flags, {"sh", "-c", script});
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.err = Stream::kCapture;
  spec.deadline = 60s;
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return pids().size() == 2; }));
  ::kill(child->pid(), GetParam());
  const Result<ProcessEnd> end = child->wait();
  ASSERT_TRUE(end);
  if (GetParam() == SIGKILL) {
    EXPECT_EQ(end->signal, SIGKILL);
  } else {
    EXPECT_EQ(end->exit_code, 130) << end->err;
    EXPECT_NE(end->err.find("1 of 3 runs are done"), std::string::npos) << end->err;
    EXPECT_EQ(manifest("256thread/nccl_56channels", "status"), "\"interrupted\"");
    EXPECT_NE(file_like(R"(nccl_thread_sweep_summary_\d{8}_\d{6}\.txt)"), "");
  }
  for (const pid_t pid : pids())
    EXPECT_TRUE(soon([&] { return !alive(pid); })) << pid;
  folder_.write("go", "");
  const auto r = sweep(flags, script);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("ran")), "28\n56\n56\n70\n");
  EXPECT_TRUE(fs::exists(out() + "/.rankscope/aside/256thread/nccl_56channels.1/manifest.json"));
  EXPECT_EQ(manifest("256thread/nccl_56channels", "status"), "\"success\"");
}

TEST_F(SweepRuns, TwoInOneFolderDoNotMix) {
  ProcessSpec spec;
  spec.argv = {test::binary()};
  const SweepWords words = arguments({"-c", "28", "-t", "256"},
                                     {"sh", "-c", "touch " + folder_.path("begun") + "; sleep 30"});
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  Result<Process> child = Process::start(std::move(spec));
  ASSERT_TRUE(child);
  ASSERT_TRUE(soon([&] { return fs::exists(folder_.path("begun")); }));
  const auto r = sweep({"-c", "28", "-t", "256"}, "true");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("another sweep is running"), std::string::npos) << r.err;
}

} // namespace
} // namespace rankscope
