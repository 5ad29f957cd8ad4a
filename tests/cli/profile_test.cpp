// Tests rankscope profile with several fake tools: order, status, arguments, outputs, dry runs.
#include "collect/fake_sysfs.h"
#include "profile_fixture.h"
#include "synth/synth.h"

#include <simdjson.h>

namespace rankscope {
namespace {

using test::RunResult;
using test::Words;

class Profile : public test::ProfileFixture {};

TEST_F(Profile, TwoToolsAreSetUpOutsideInAndTornDownInsideOut) {
  const RunResult r = profile({"--tool", "A", "--tool", "B"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(order(), (Words{"pre B", "pre A", "cmd B", "cmd A", "app 2", "end A", "end B", "post A",
                            "post B"}));
  EXPECT_EQ(r.out, "to out\n");
  EXPECT_NE(r.err.find("to err\n"), std::string::npos);
  const std::string log = test::bytes_of(folder_.path("out/run.log"));
  EXPECT_NE(log.find("] out to out\n"), std::string::npos) << log;
  EXPECT_NE(log.find("] err to err\n"), std::string::npos) << log;
}

TEST_F(Profile, TheTearDownRunsWhenTheCommandFails) {
  const RunResult r = profile({"--tool", "A", "--tool", "B"}, {"./app.sh", "7"});
  EXPECT_EQ(r.code, 7);
  EXPECT_EQ(order(), (Words{"pre B", "pre A", "cmd B", "cmd A", "app 2", "end A", "end B", "post A",
                            "post B"}));
}

TEST_F(Profile, AFailingSetUpNamesItsToolAndTearsDownWhatWasSetUp) {
  // order of set-up: A, then bad; B is not reached
  RunResult r = profile({"--tool", "B", "--tool", "bad", "--tool", "A"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_EQ(order(), (Words{"pre A", "pre bad", "post bad", "post A"}));
  EXPECT_NE(r.err.find("failed-set-up: bad"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("why it failed"), std::string::npos) << r.err;
  EXPECT_TRUE(has_code("failed-set-up"));
  r = profile({"--keep-going", "--tool", "B", "--tool", "bad"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(order(), (Words{"pre bad", "pre B", "cmd B", "app 2", "end B", "post B", "post bad"}));
  r = profile({"--strict", "--keep-going", "--tool", "bad"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 4); // the command succeeds, a tool does not
  r = profile({"--strict", "--keep-going", "--tool", "bad"}, {"./app.sh", "9"});
  EXPECT_EQ(r.code, 9);
}

TEST_F(Profile, ATimeOutEndsTheCommandAndTearsDown) {
  const RunResult r = profile({"--timeout", "0.4", "--tool", "A", "--tool", "B"},
                              {"sh", "-c", "echo $$ >> pids; sleep 100"});
  EXPECT_EQ(r.code, 124) << r.err;
  const Words steps = order();
  ASSERT_GE(steps.size(), 2U);
  EXPECT_EQ(steps[steps.size() - 2], "post A");
  EXPECT_EQ(steps.back(), "post B");
  EXPECT_TRUE(has_code("command-timeout"));
  expect_no_orphan();
}

TEST_F(Profile, AStepHasATimeOutOfItsOwn) {
  folder_.write("slow.json", R"({"tools": {"slow": {"timeout": 0.3,
      "pre_scripts": [{"path": "./slow.sh"}]}}})");
  script("slow.sh", "#!/bin/sh\necho $$ >> pids\nsleep 100\n");
  const RunResult r = profile({"--tools-config", "slow.json", "--tool", "slow"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 7);
  EXPECT_NE(r.err.find("did not end in time"), std::string::npos) << r.err;
  expect_no_orphan();
}

TEST_F(Profile, ArgumentsArriveAsTheyAre) {
  folder_.write("show.py", "import sys\nopen('argv', 'w').write(repr(sys.argv[1:]))\n");
  script("show.sh",
         "#!/bin/sh\nrm -f argv\nfor a in \"$@\"; do printf '<%s>' \"$a\" >> argv; done\n");
  const Words words = {"a b",    "$HOME", ";",     "\"",  "'",    "x\ny", "",  "--",
                       "--json", "-q",    "[1,2]", "a,b", "`id`", "*",    "\\"};
  std::string expected;
  for (const std::string& w : words)
    expected += "<" + w + ">";
  for (const Words& flags :
       {Words{}, Words{"--tool", "A"}, Words{"--tool", "A", "--tool", "B", "--tool", "tracer"}}) {
    Words command = {"./show.sh"};
    command.insert(command.end(), words.begin(), words.end());
    const RunResult r = profile(flags, command);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(test::bytes_of(folder_.path("argv")), expected);
  }
  // a shell runs the command only if the entry requests it; the command is then its "$@"
  folder_.write("shell.json", R"({"tools": {"test_tools_A": {"shell": true,
      "cmd": "echo cmd_A >> order && "}}})");
  Words command = {"./show.sh"};
  command.insert(command.end(), words.begin(), words.end());
  const RunResult r = profile({"--tools-config", "shell.json", "--tool", "test_tools_A"}, command);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("argv")), expected);
  EXPECT_EQ(order(), (Words{"cmd_A"}));
}

TEST_F(Profile, TheCommandsStatusIsOursThroughEveryStack) {
  const std::vector<Words> stacks = {{},
                                     {"--tool", "A"},
                                     {"--tool", "tracer"},
                                     {"--tool", "A", "--tool", "B"},
                                     {"--tool", "A", "--tool", "tracer", "--tool", "B"}};
  for (const Words& stack : stacks) {
    EXPECT_EQ(profile(stack, {"sh", "-c", "exit 0"}).code, 0);
    EXPECT_EQ(profile(stack, {"sh", "-c", "exit 42"}).code, 42);
    EXPECT_EQ(profile(stack, {"sh", "-c", "kill -SEGV $$"}).code, 128 + 11);
    EXPECT_EQ(profile(stack, {"sh", "-c", "kill -KILL $$"}).code, 128 + 9);
    EXPECT_NE(manifest().find("\"exit_status\": 137"), std::string::npos);
  }
}

TEST_F(Profile, OutputsAreCountedAndPlacedUnderTheOldNamesOnRequest) {
  const RunResult r = profile({"--tool", "tracer", "--compat-outputs"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("out/tracer/trace.csv")), "name,us\nfirst,1\nlast,2\n");
  EXPECT_EQ(test::bytes_of(folder_.path("old.csv")), "name,us\nfirst,1\nlast,2\n");
  simdjson::dom::parser parser;
  const std::string text = manifest();
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  EXPECT_EQ(std::string_view(root["tools"].at(0)["status"]), "ok");
  EXPECT_EQ(std::int64_t(root["tools"].at(0)["records"]), 2);
  EXPECT_EQ(std::int64_t(root["tools"].at(0)["bytes"]), 23);
  EXPECT_EQ(std::int64_t(root["exit_status"]), 0);
  EXPECT_TRUE(bool(root["profiled"]));
  EXPECT_GT(std::int64_t(root["clock_end"]["monotonic_ns"]),
            std::int64_t(root["clock_begin"]["monotonic_ns"]));
  EXPECT_EQ(std::string_view(root["plan"]["argv"].at(0)), folder_.path("tracer.sh"));
  EXPECT_NE(test::bytes_of(folder_.path("out/summary.txt")).find("tracer"), std::string::npos);
}

// `profile merge` computes the wall time of all ranks from these clocks.
TEST_F(Profile, TheClocksAreThoseOfTheCommand) {
  folder_.write("slow.json", R"({"tools": {"slow": {
      "pre_scripts": [{"path": "./slow.sh"}], "post_scripts": [{"path": "./slow.sh"}]}}})");
  script("slow.sh", "#!/bin/sh\nsleep 0.7\n");
  const RunResult r =
      profile({"--baseline", "--tools-config", "slow.json", "--tool", "slow"}, {"sleep", "0.7"});
  EXPECT_EQ(r.code, 0) << r.err;
  simdjson::dom::parser parser;
  const std::string text = manifest();
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  const auto unix_s = [&](const char* clock) {
    return static_cast<double>(std::int64_t(root[clock]["unix_ns"])) / 1e9;
  };
  EXPECT_NEAR(unix_s("clock_end") - unix_s("clock_begin"), double(root["seconds"]), 0.5);
}

TEST_F(Profile, OutputsThatToolsLeaveWhereTheyRanAreCopiedAndOldOnesStay) {
  folder_.write(
      "here.json",
      R"({"tools": {"here": {"shell": true, "cmd": "echo h > res.csv; echo 1 >> res.csv; ",
      "produces": [{"path": "res*.csv", "check": "csv"}]}}})");
  folder_.write("res_old.csv", "h\n1\n");
  std::filesystem::last_write_time(folder_.path("res_old.csv"),
                                   std::filesystem::file_time_type::clock::now() -
                                       std::chrono::hours(1));
  const RunResult r = profile({"--tools-config", "here.json", "--tool", "here"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("out/here/res.csv")), "h\n1\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path("res.csv")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("res_old.csv")));
}

TEST_F(Profile, ADryRunPrintsTheStepsAndDoesNothing) {
  const RunResult r = profile({"--dry-run", "--tool", "A", "--tool", "B"}, {"./app.sh", "a b"});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::size_t b = r.out.find("/step.sh pre B");
  const std::size_t a = r.out.find("/step.sh pre A");
  const std::size_t run =
      r.out.find(folder_.path("wrap.sh") + " B " + folder_.path("wrap.sh") + " A ./app.sh 'a b'");
  const std::size_t post = r.out.find("/step.sh post A");
  EXPECT_TRUE(b < a && a < run && run < post && post != std::string::npos) << r.out;
  EXPECT_NE(r.out.find("A sets X=1, B sets X=2: B wins"), std::string::npos) << r.out;
  EXPECT_TRUE(order().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
  const RunResult json = profile({"--dry-run", "--json", "--tool", "A"}, {"x"});
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(json.out).error(), simdjson::SUCCESS) << json.out;
}

TEST_F(Profile, APartOfTheRunIsAnOptionOfEachTool) {
  const RunResult r =
      profile({"--dry-run", "--delay", "2", "--duration", "5", "--tool", "rocprofv3"}, {"true"});
  EXPECT_NE(r.out.find("rocprofv3 --collection-period 2000:5000:1 --collection-period-unit msec "
                       "--runtime-trace"),
            std::string::npos)
      << r.out << r.err;
  const RunResult refused = profile({"--kernels", "gemm", "--tool", "nsys"}, {"true"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("nsys has no filter for kernels"), std::string::npos) << refused.err;
}

TEST_F(Profile, WithJsonTheManifestIsOnStandardOutputAlone) {
  const RunResult r = profile({"--json", "--tool", "A"}, {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0);
  simdjson::dom::parser parser;
  EXPECT_EQ(parser.parse(r.out).error(), simdjson::SUCCESS) << r.out;
  EXPECT_NE(r.err.find("to out\n"), std::string::npos);
}

TEST_F(Profile, TheContextOfTheGuideRunsAsItIs) {
  const RunResult r =
      profile({"--additional-context",
               R"({'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU', 'docker_env_vars': {'X': '9'},
           'tools': [{'name': 'A'}, {'name': 'B', 'cmd': './wrap.sh C'}],
           'pre_scripts': [{'path': './step.sh', 'args': 'pre ctx'}],
           'post_scripts': [{'path': './step.sh', 'args': 'post ctx'}]})"},
              {"./app.sh", "0"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(order(), (Words{"pre B", "pre A", "pre ctx", "cmd C", "cmd A", "app 9", "end A",
                            "end C", "post ctx", "post A", "post B"}));
  EXPECT_NE(r.err.find("Python literal"), std::string::npos) << r.err;
}

// HA-B19: a script without a folder in its path is in the folder of its table.
TEST_F(Profile, AScriptBesideItsTableIsFoundByNameAlone) {
  std::filesystem::create_directory(folder_.path("tables"));
  ::chmod(folder_.write("tables/A_pre.sh", "#!/bin/sh\necho \"beside $1\" >> order\n").c_str(),
          0755);
  folder_.write("tables/tools.json",
                R"({"tools": {"A": {"cmd": "env", "pre_scripts": [{"path": "A_pre.sh",
                    "args": "table"}]}}})");
  const RunResult r = test::run_binary({"profile", "--out", "out", "--tools-config",
                                        "tables/tools.json", "--tool", "A", "--", "true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(order(), Words{"beside table"});
  // a missing script: the message names the folders that were searched
  folder_.write("tables/tools.json",
                R"({"tools": {"A": {"cmd": "env", "pre_scripts": [{"path": "B_pre.sh"}]}}})");
  const RunResult missing = test::run_binary({"profile", "--out", "out2", "--tools-config",
                                              "tables/tools.json", "--tool", "A", "--", "true"});
  EXPECT_EQ(missing.code, 7);
  EXPECT_NE(missing.err.find("missing-script: A"), std::string::npos) << missing.err;
}

TEST_F(Profile, TaggedModelsRunEachInAFolderOfItsOwn) {
  folder_.write("models.json", R"([
    {"name": "one", "scripts": "scripts/one/run.sh", "n_gpus": "1", "tags": ["t"], "args": "--n 1"},
    {"name": "two", "scripts": "scripts/two", "n_gpus": "1", "tags": "t", "args": ""}])");
  folder_.write("scripts/one/run.sh", "echo \"$MAD_MODEL_NAME $*\" > ran\n");
  folder_.write("scripts/two/run.sh", "echo \"$MAD_MODEL_NAME $*\" > ran; exit 5\n");
  const RunResult r = test::run_binary(
      {"profile", "--out", "out", "--tags", "t:extra=2", "--models", "models.json"});
  EXPECT_EQ(r.code, 5) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("scripts/one/ran")), "one --n 1 --extra 2\n");
  EXPECT_EQ(test::bytes_of(folder_.path("scripts/two/ran")), "two --extra 2\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/one/manifest.json")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/two/manifest.json")));
}

TEST_F(Profile, AModelThatSeveralTagsMeanRunsInFoldersOfItsOwn) {
  folder_.write("models.json", R"([
    {"name": "a", "scripts": "run.sh", "n_gpus": "1", "tags": ["t"], "args": ""},
    {"name": "a_2", "scripts": "run.sh", "n_gpus": "1", "tags": ["t"], "args": ""},
    {"name": "a_b", "scripts": "run.sh", "n_gpus": "1", "tags": ["u"], "args": ""}])");
  folder_.write("run.sh", "echo \"$MAD_MODEL_NAME $*\" >> ran\n");
  const RunResult r = test::run_binary(
      {"profile", "--out", "out", "--tags", "a_b,a,t:x=1", "--models", "models.json"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("ran")), "a_b \na \na --x 1\na_2 --x 1\n");
  for (const char* name : {"a_b", "a", "a_2", "a_2_2"}) // the second run of a has the name a_2
    EXPECT_TRUE(std::filesystem::exists(folder_.path("out/") + name + "/manifest.json")) << name;
}

TEST_F(Profile, RanksOfALauncherHaveFoldersOfTheirOwn) {
  for (const char* name : {"SLURM_PROCID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    ::setenv(name, "3", 1);
    const RunResult r = profile({}, {"true"});
    ::unsetenv(name);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(std::filesystem::exists(folder_.path("out/rank_3/manifest.json"))) << name;
  }
}

TEST_F(Profile, AFolderWithARunIsNotWrittenOver) {
  EXPECT_EQ(profile({}, {"true"}).code, 0);
  const RunResult r = test::run_binary(arguments({}, {"true"}));
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("already contains a run"), std::string::npos) << r.err;
  EXPECT_EQ(test::run_binary(arguments({"--force"}, {"true"})).code, 0);
}

TEST_F(Profile, StandardInputReachesTheCommand) {
  ProcessSpec spec;
  spec.argv = arguments({"-q", "--tool", "A"}, {"cat"});
  spec.argv.insert(spec.argv.begin(), test::binary());
  spec.input = "from outside";
  spec.out = Stream::kCapture;
  const Result<ProcessEnd> end = run_process(std::move(spec));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->out, "from outside");
}

TEST_F(Profile, TracesThatToolsWriteAreReportedAtOnce) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 1;
  o.layers = 1;
  o.steps = 1;
  ASSERT_TRUE(synth::generate(o, folder_.path("s"), 1, nullptr));
  std::string trace;
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder_.path("s")))
    if (e.path().filename().string().rfind("trace", 0) == 0)
      trace = e.path().string();
  folder_.write("k.json", R"({"tools": {"k": {"shell": true, "cmd": "cp \"$TRACE\" \"$TO\"; ",
      "env_vars": {"TO": "{out}/trace.json"}, "produces": [{"path": "{out}/*", "check": "trace"}]}}})");
  ::setenv("TRACE", trace.c_str(), 1);
  const RunResult r = profile({"--tools-config", "k.json", "--tool", "k"}, {"true"});
  ::unsetenv("TRACE");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("computation_time"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("Kernel"), std::string::npos) << r.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path("out/reports/k_trace.json_perf_report.xlsx")));
  EXPECT_EQ(r.out, "");
}

TEST_F(Profile, WrongUsesAreRefusedBeforeAnythingStarts) {
  EXPECT_EQ(profile({}, {}).code, 2);
  EXPECT_EQ(profile({"--tool", "nope"}, {"./app.sh", "0"}).code, 2);
  EXPECT_EQ(profile({"--tool", "A", "--tool", "A"}, {"./app.sh", "0"}).code, 2);
  EXPECT_EQ(profile({"-c", "[]"}, {"./app.sh", "0"}).code, 2);
  EXPECT_EQ(profile({"-f", "none.json"}, {"./app.sh", "0"}).code, 3);
  EXPECT_EQ(profile({"--tags", "x"}, {"./app.sh", "0"}).code, 2);
  EXPECT_EQ(profile({}, {"./not-there"}).code, 7);
  EXPECT_TRUE(order().empty());
}

TEST_F(Profile, CountersAreThoseOfTheArchitecture) {
  folder_.write("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90010\n");
  // a rocprofv3 that records its arguments
  script("bin/rocprofv3", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do\n"
                          "  [ \"$1\" = -i ] && cp \"$2\" given; echo \"$1\" >> words; shift\n"
                          "done\nshift\nexec \"$@\"\n");
  const char* const path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", (folder_.path("bin") + ":" + before).c_str(),
           1); // NOLINT(concurrency-mt-unsafe)
  const Words sys = {"--sysfs-root", folder_.path("sys")};
  RunResult r = profile({sys[0], sys[1], "--tool", "rocprofv3_memory"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(test::bytes_of(folder_.path("words")).find("TCC_EA_RDREQ_sum"), std::string::npos);
  r = profile({sys[0], sys[1], "--tool", "rocprofv3_counters"}, {"true"});
  EXPECT_EQ(r.code, 0) << r.err;
  const std::string given = test::bytes_of(folder_.path("given"));
  EXPECT_EQ(given, test::bytes_of(folder_.path("out/rocprofv3_counters/counters_all.txt")));
  EXPECT_EQ(std::count(given.begin(), given.end(), '\n'), 5) << given;
  r = profile({sys[0], sys[1], "--tool", "rocprofv3_counters", "--dry-run"}, {"true"});
  EXPECT_NE(r.out.find("the command runs 5 times"), std::string::npos) << r.out;
  ::setenv("PATH", before.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
}

TEST_F(Profile, TheCommandRunsOnBothDiesOfABoard) {
  const test::FakeSysfs sysfs; // a GPU of one die, then a GPU of two dies
  sysfs.add_gpu(128, "0000:c1:00.0", "a", 300);
  sysfs.add_gpu(129, "0000:c6:00.0", "b", 300, "0x7408");
  sysfs.add_gpu(130, "0000:c9:00.0", "c", -1, "0x7408");
  const std::string copy =
      "echo \"$HIP_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES $1\" > replica$RANKSCOPE_REPLICA; "
      // both run at the same time: each waits for the other one
      "until [ -s replica0 ] && [ -s replica1 ]; do sleep 0.01; done; exit $HIP_VISIBLE_DEVICES";
  RunResult r = profile({"--sysfs-root", sysfs.root(), "--replicate-per-gcd", "--tool", "A"},
                        {"sh", "-c", copy, "sh", "a b; $HOME"});
  EXPECT_EQ(r.code, 1) << "the first that is not 0" << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("replica0")), "1 1 a b; $HOME\n");
  EXPECT_EQ(test::bytes_of(folder_.path("replica1")), "2 2 a b; $HOME\n");
  EXPECT_EQ(order().back(), "post A");
  r = profile({"--replicate-per-gcd", "--devices", "5,0"}, {"sh", "-c", copy, "sh", "x"});
  EXPECT_EQ(r.code, 5) << r.err;
  EXPECT_EQ(test::bytes_of(folder_.path("replica1")), "0 0 x\n");
  r = profile({"--replicate-per-gcd", "--devices", "0,1"}, {"rankscope-no-such-program"});
  EXPECT_EQ(r.code, 7) << r.err;
  r = profile({"--replicate-per-gcd", "--devices", "all"}, {"true"});
  EXPECT_EQ(r.code, 2) << r.err;
  r = profile({"--replicate-per-gcd", "--docker", "image", "--devices", "0,1"}, {"true"});
  EXPECT_EQ(r.code, 2) << r.err;
  const test::FakeSysfs three;
  for (int i = 0; i < 3; ++i)
    three.add_gpu(128 + i, "0000:c" + std::to_string(i) + ":00.0", "u" + std::to_string(i), 300);
  r = profile({"--sysfs-root", three.root(), "--replicate-per-gcd"}, {"true"});
  EXPECT_EQ(r.code, 2) << r.err;
  EXPECT_NE(r.err.find("no package with two dies among the 3 GPUs"), std::string::npos) << r.err;
}

TEST_F(Profile, SecretsOfTheEnvironmentAreNotWrittenDown) {
  const RunResult r = profile(
      {"--additional-context", R"({"docker_env_vars": {"HF_TOKEN": "hunter2", "X": "9"}})"},
      {"sh", "-c", "case $HF_TOKEN in h*2) exit $0 ;; esac; exit 9", "0", "--api-key=hunter2"});
  EXPECT_EQ(r.code, 0) << r.err; // the command has the variable
  EXPECT_NE(manifest().find("\"HF_TOKEN\": \"***\""), std::string::npos) << manifest();
  EXPECT_NE(manifest().find("\"X\": \"9\""), std::string::npos);
  for (const char* file : {"out/manifest.json", "out/summary.txt"})
    EXPECT_EQ(test::bytes_of(folder_.path(file)).find("hunter2"), std::string::npos)
        << test::bytes_of(folder_.path(file));
}

} // namespace
} // namespace rankscope
