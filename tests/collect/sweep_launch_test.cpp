// Tests argument lists and environments of runs.
#include "collect/sweep_launch.h"
#include "os/process.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Words = std::vector<std::string>;

SweepSetting setting() {
  return grid_settings({256}, {28}, false).front();
}

PlannedRun planned(const Words& command, const LaunchOptions& launch = {},
                   const SharedEnvironment& shared = {}) {
  return plan_run(command, setting(), launch, shared, "/o/run", 0);
}

std::string value_of(const PlannedRun& run, const std::string& name) {
  for (const auto& [key, value] : run.environment)
    if (key == name)
      return value;
  return "(none)";
}

TEST(SweepLaunch, PlaceholdersAndNothingElse) {
  const SweepSetting s = setting();
  EXPECT_EQ(with_values("{out}/x {threads},{channels} {repeat}", s, "/o", 3), "/o/x 256,28 3");
  for (const char* untouched : {"{\"a\": {}}", "{unknown}", "{", "}{", "${HOME}x", "{out", ""})
    EXPECT_EQ(with_values(untouched, s, "/o", 0),
              std::string(untouched).find("{out}") == 0 ? "/o" : untouched);
}

TEST(SweepLaunch, ArgumentsStayAsTheyAre) {
  const Words words = {"prog", "", "a b", "\"q\" 'p'", "$HOME `id`", "x\ny", "--", "-c", "[a,b]"};
  EXPECT_EQ(planned(words).argv, words);
}

TEST(SweepLaunch, Launchers) {
  LaunchOptions launch;
  launch.processes = 4;
  launch.launcher = "torchrun";
  EXPECT_EQ(planned({"train.py", "-x"}, launch).argv,
            (Words{"torchrun", "--nproc_per_node", "4", "train.py", "-x"}));
  EXPECT_EQ(planned({"./bench"}, launch).argv,
            (Words{"torchrun", "--nproc_per_node", "4", "--no-python", "./bench"}));
  launch.launcher = "srun";
  launch.launcher_arguments = {"-N", "2"};
  EXPECT_EQ(planned({"./bench"}, launch).argv,
            (Words{"srun", "--ntasks", "4", "--export", "ALL", "-N", "2", "./bench"}));
  launch.launcher = "mpirun";
  const PlannedRun mpi = planned({"./bench"}, launch);
  EXPECT_EQ((Words{mpi.argv.begin(), mpi.argv.begin() + 3}), (Words{"mpirun", "-np", "4"}));
  for (const auto& change : mpi.environment) { // each variable is passed to the other hosts
    const auto at = std::find(mpi.argv.begin(), mpi.argv.end(), change.first);
    ASSERT_NE(at, mpi.argv.end()) << change.first;
    EXPECT_EQ(*(at - 1), "-x");
  }
}

TEST(SweepLaunch, Rocprof) {
  LaunchOptions launch;
  launch.rocprof = true;
  EXPECT_EQ(planned({"a"}, launch).argv,
            (Words{"rocprofv3", "--kernel-trace", "-d", "/o/run/rocprof_traces", "--", "a"}));
  launch.rocprof_stats = true;
  EXPECT_EQ(planned({"a"}, launch).argv, (Words{"rocprofv3", "--kernel-trace", "--stats", "-d",
                                                "/o/run/rocprof_traces", "--", "a"}));
  launch.rocprof_input = "in.yaml";
  EXPECT_EQ(planned({"a"}, launch).argv,
            (Words{"rocprofv3", "-i", "in.yaml", "-d", "/o/run/rocprof_traces", "--", "a"}));
}

TEST(SweepLaunch, EnvironmentOfARun) {
  SharedEnvironment shared;
  shared.before = {{"HSA_ENABLE_SDMA", "0"}, {"X", "1"}};
  shared.over = {{"HSA_ENABLE_SDMA", "1"}, {"LOG", "{out}/{threads}"}};
  shared.unset = {"X", "OTHER"};
  const PlannedRun run = planned({"a"}, {}, shared);
  EXPECT_EQ(value_of(run, "HSA_ENABLE_SDMA"), "1"); // the user's value takes precedence
  EXPECT_EQ(value_of(run, "LOG"), "/o/run/256");
  EXPECT_EQ(value_of(run, "X"), "(none)");
  EXPECT_EQ(value_of(run, "NCCL_MAX_NCHANNELS"), "28");
  EXPECT_EQ(value_of(run, "NCCL_MIN_NCHANNELS"), "(none)");
  EXPECT_EQ(value_of(run, "NCCL_DEBUG"), "INFO");
  EXPECT_EQ(value_of(run, "RANKSCOPE_RUN_DIR"), "/o/run");
  EXPECT_EQ(run.unset, shared.unset);
  shared.library_log = false;
  EXPECT_EQ(value_of(planned({"a"}, {}, shared), "NCCL_DEBUG"), "(none)");
}

// If a setting has null, neither the defaults of the pair nor those of the sweep set the variable.
TEST(SweepLaunch, WhatASettingLeavesUnsetIsSetByNobody) {
  SweepSetting setting;
  setting.environment = {{"pair", {{"RCCL_UNROLL_FACTOR", "1"}}}};
  setting.unset = {"RCCL_UNROLL_FACTOR", "HSA_ENABLE_SDMA"};
  SharedEnvironment shared;
  shared.before = {{"HSA_ENABLE_SDMA", "0"}};
  PlannedRun run = plan_run({"a"}, setting, {}, shared, "/o/run", 0);
  EXPECT_EQ(value_of(run, "RCCL_UNROLL_FACTOR"), "(none)");
  EXPECT_EQ(value_of(run, "HSA_ENABLE_SDMA"), "(none)");
  shared.over = {{"RCCL_UNROLL_FACTOR", "4"}}; // --env takes precedence
  run = plan_run({"a"}, setting, {}, shared, "/o/run", 0);
  EXPECT_EQ(value_of(run, "RCCL_UNROLL_FACTOR"), "4");
}

TEST(SweepLaunch, ContainersGetTheVariablesByArgument) {
  LaunchOptions launch;
  launch.container = "image:1";
  launch.container_tool = "podman";
  launch.container_arguments = {"--shm-size", "17G"};
  launch.gpus.nvidia = true;
  const PlannedRun run = planned({"prog", "a b"}, launch);
  const Words& argv = run.argv;
  EXPECT_EQ((Words{argv.begin(), argv.begin() + 4}), (Words{"podman", "run", "--rm", "--init"}));
  EXPECT_EQ((Words{argv.end() - 5, argv.end()}),
            (Words{"--shm-size", "17G", "image:1", "prog", "a b"}));
  for (const char* word : {"NCCL_MAX_NCHANNELS=28", "/o/run:/o/run", "nvidia.com/gpu=all"})
    EXPECT_NE(std::find(argv.begin(), argv.end(), word), argv.end()) << word;
  EXPECT_NE(std::find(argv.begin(), argv.end(), run.container_name), argv.end());
  launch.container = "compose:train";
  launch.compose_file = "c.yaml";
  const Words compose = planned({"prog"}, launch).argv;
  EXPECT_EQ((Words{compose.begin(), compose.begin() + 7}),
            (Words{"podman", "compose", "-f", "c.yaml", "run", "--rm", "-T"}));
  EXPECT_EQ((Words{compose.end() - 2, compose.end()}), (Words{"train", "prog"}));
}

TEST(SweepLaunch, TheMarkIsOfTheRunAndNotOfItsPlace) {
  const SweepSetting s = setting();
  const auto mark = [&](const Words& command, const std::string& folder,
                        const SharedEnvironment& e) {
    return plan_run(command, s, {}, e, folder, 0).mark();
  };
  const std::string base = mark({"a", "{out}/x"}, "/one", {});
  EXPECT_EQ(base, mark({"a", "{out}/x"}, "/two", {}));
  EXPECT_NE(base, mark({"a", "{out}/y"}, "/one", {}));
  EXPECT_NE(base, mark({"a", "{out}", "/x"}, "/one", {}));
  SharedEnvironment more;
  more.over = {{"N", "1"}};
  EXPECT_NE(base, mark({"a", "{out}/x"}, "/one", more));
}

TEST(SweepLaunch, WhatIsPrintedRunsAsItStands) {
  // a shell that runs the printed text must have the same arguments and variables
  SharedEnvironment shared;
  shared.over = {{"ODD", "it's \"$HOME\"\n\\ `id`"}};
  shared.unset = {"HOME"};
  const PlannedRun run =
      planned({"sh", "-c", "printf '<%s>' \"$@\"; printf '[%s|%s]' \"$ODD\" \"${HOME-none}\"", "sh",
               "", "a b", "'", "$(id)", "x\ny", "--"},
              {}, shared);
  ProcessSpec spec;
  spec.argv = {"sh", "-c", shell_command(run)};
  spec.out = Stream::kCapture;
  const auto end = run_process(std::move(spec));
  ASSERT_TRUE(end && end->ok());
  EXPECT_EQ(end->out, "<><a b><'><$(id)><x\ny><-->[it's \"$HOME\"\n\\ `id`|none]");
}

TEST(SweepLaunch, AParameterThatChangesNothingIsFound) {
  SweepSetting s;
  s.configuration.set("batch", "16");
  EXPECT_EQ(unused_parameters({s}, {"a"}, {}), std::vector<std::string>{"batch"});
  EXPECT_TRUE(unused_parameters({s}, {"a", "-b={batch}"}, {}).empty());
  SharedEnvironment shared;
  shared.over = {{"B", "{batch}"}};
  EXPECT_TRUE(unused_parameters({s}, {"a"}, shared).empty());
}

TEST(ContainerRun, DevicesOfThisMachine) {
  const test::TempFolder folder;
  EXPECT_FALSE(machine_gpus(folder.path()).amd || machine_gpus(folder.path()).nvidia);
  folder.write("kfd", "");
  EXPECT_TRUE(machine_gpus(folder.path()).amd);
  folder.write("nvidiactl", "");
  EXPECT_TRUE(machine_gpus(folder.path()).nvidia);
}

// HA-B9: options that RCCL and the ROCm tools need in a container.
TEST(ContainerRun, Words) {
  ContainerRun run{"docker", "n", "/w", {"/w:/w"}, {"SYS_PTRACE"}, {true, true, "0,1"}};
  EXPECT_EQ(container_run_words(run), (Words{"docker",
                                             "run",
                                             "--rm",
                                             "--init",
                                             "--network",
                                             "host",
                                             "--ipc",
                                             "host",
                                             "--device",
                                             "/dev/kfd",
                                             "--device",
                                             "/dev/dri",
                                             "--group-add",
                                             "video",
                                             "--security-opt",
                                             "seccomp=unconfined",
                                             "-e",
                                             "ROCR_VISIBLE_DEVICES=0,1",
                                             "--gpus",
                                             "\"device=0,1\"",
                                             "--name",
                                             "n",
                                             "-w",
                                             "/w",
                                             "-v",
                                             "/w:/w",
                                             "--cap-add",
                                             "SYS_PTRACE"}));
  run.tool = "podman";
  run.gpus = {false, true, "0,1"};
  const Words podman = container_run_words(run);
  EXPECT_EQ((Words{podman.begin() + 8, podman.begin() + 12}),
            (Words{"--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=1"}));
}

// HA-B33: each task of srun runs its own profiler.
TEST(SweepLaunch, TheProfilerIsInTheTask) {
  LaunchOptions launch;
  launch.rocprof = true;
  launch.launcher = "srun";
  const Words argv = planned({"prog"}, launch).argv;
  EXPECT_EQ(argv.front(), "srun");
  EXPECT_LT(std::find(argv.begin(), argv.end(), "srun"),
            std::find(argv.begin(), argv.end(), "rocprofv3"));
  launch.launcher = "torchrun";
  EXPECT_EQ(planned({"prog"}, launch).argv.front(), "rocprofv3");
}

// HA-B25: Compose 1 is a separate program.
TEST(SweepLaunch, ComposeWithoutThePlugin) {
  LaunchOptions launch;
  launch.container = "compose:train";
  launch.container_tool = "docker-compose";
  const Words argv = planned({"prog"}, launch).argv;
  EXPECT_EQ((Words{argv.begin(), argv.begin() + 4}),
            (Words{"docker-compose", "run", "--rm", "-T"}));
}

} // namespace
} // namespace rankscope
