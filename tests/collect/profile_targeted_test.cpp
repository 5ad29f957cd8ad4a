// Tests recording of a part of a run (time window, kernels, steps): the options that each tool
// gets.
#include "collect/profile/targeted.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

ToolEntry tool_named(const std::string& name, const std::string& cmd,
                     const std::string& family = "gpu-tracer") {
  ToolEntry out;
  out.name = name;
  out.cmd = cmd;
  out.family = family;
  return out;
}

struct Placed {
  std::string cmd, error;
  std::vector<std::string> notes;
};
Placed placed(const ToolEntry& tool, const TargetedCollection& targets) {
  Placed out;
  std::vector<ToolEntry> tools = {tool};
  if (const auto done = place_targets(targets, tools, out.notes); !done)
    out.error = done.error().message();
  out.cmd = tools.front().cmd;
  return out;
}

TEST(Targeted, TheTimeWindowInTheOptionsOfEachTool) {
  const TargetedCollection window{2.5, 10, "", ""};
  EXPECT_EQ(placed(tool_named("r", "rocprofv3 --runtime-trace -d {out} --"), window).cmd,
            "rocprofv3 --collection-period 2500:10000:1 --collection-period-unit msec "
            "--runtime-trace -d {out} --");
  EXPECT_EQ(placed(tool_named("n", "nsys profile --trace=cuda -o {out}/report"), window).cmd,
            "nsys profile --delay=2.5 --duration=10 --kill=none --trace=cuda -o {out}/report");
  EXPECT_EQ(placed(tool_named("r", "/opt/rocm/bin/rocprofv3 --hip-trace --"), {2, 0, "", ""}).cmd,
            "/opt/rocm/bin/rocprofv3 --collection-period 2000:10000000000:1 "
            "--collection-period-unit msec --hip-trace --")
      << "to the end";
  EXPECT_NE(placed(tool_named("u", "ncu --set basic"), window).error.find("no time window"),
            std::string::npos);
  ToolEntry passes = tool_named("p", "rocprofv3 -i {out}/counters.txt --");
  passes.passes = 3;
  EXPECT_NE(placed(passes, window).error.find("need a single pass"), std::string::npos);
}

TEST(Targeted, KernelsWhereTheToolCanFilterThem) {
  const TargetedCollection gemms{0, 0, "Cijk_.*'x", ""};
  EXPECT_EQ(placed(tool_named("u", "ncu --set basic"), gemms).cmd,
            R"(ncu --kernel-name 'regex:Cijk_.*'\''x' --set basic)");
  EXPECT_EQ(placed(tool_named("r", "rocprofv3 --pmc SQ_WAVES --"), gemms).cmd,
            R"(rocprofv3 --kernel-include-regex 'Cijk_.*'\''x' --pmc SQ_WAVES --)");
  const auto words = split_words(placed(tool_named("u", "ncu"), gemms).cmd, "");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->back(), "regex:Cijk_.*'x") << "as it was given";
  EXPECT_NE(
      placed(tool_named("r", "rocprofv3 --kernel-trace --"), gemms).error.find("for counters only"),
      std::string::npos);
  EXPECT_NE(placed(tool_named("n", "nsys profile"), gemms).error.find("no filter for kernels"),
            std::string::npos);
}

TEST(Targeted, RocprofSysReadsItsWindowFromTheEnvironment) {
  std::vector<ToolEntry> tools = {tool_named("s", "rocprof-sys-run --trace --")};
  std::vector<std::string> notes;
  ASSERT_TRUE(place_targets({2.5, 10, "", ""}, tools, notes));
  EXPECT_EQ(tools[0].cmd, "rocprof-sys-run --trace --");
  EXPECT_EQ(tools[0].env_vars,
            (EnvPairs{{"ROCPROFSYS_TRACE_DELAY", "2.5"}, {"ROCPROFSYS_TRACE_DURATION", "10"}}));
  EXPECT_NE(placed(tools[0], {0, 0, "x", ""}).error.find("no filter for kernels"),
            std::string::npos);
}

TEST(Targeted, StepsAreThoseOfThePyTorchProfiler) {
  ToolEntry torch = tool_named("torch_profiler", "");
  torch.native = "torch_profiler";
  std::vector<ToolEntry> tools = {torch};
  std::vector<std::string> notes;
  TargetedCollection steps;
  steps.steps = "3:5";
  ASSERT_TRUE(place_targets(steps, tools, notes));
  EXPECT_EQ(tools[0].env_vars, (EnvPairs{{"RANKSCOPE_TORCH_STEPS", "3:5"}}));
  steps.steps = "x";
  EXPECT_NE(placed(torch, steps).error, "");
  EXPECT_NE(placed(torch, {1, 0, "", ""}).error.find("can select steps"), std::string::npos);
  steps.steps = "3";
  EXPECT_NE(placed(tool_named("nsys", "nsys profile"), steps).error.find("only torch_profiler"),
            std::string::npos);
}

TEST(Targeted, OtherToolsAreNamed) {
  const TargetedCollection window{1, 0, "", ""};
  EXPECT_NE(
      placed(tool_named("rpd", "runTracer.sh -o x"), window).error.find("not options of this"),
      std::string::npos);
  std::vector<ToolEntry> both = {tool_named("nsys", "nsys profile"), tool_named("power", "", "")};
  std::vector<std::string> notes;
  ASSERT_TRUE(place_targets(window, both, notes));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "power records the complete run");
  EXPECT_NE(placed(tool_named("power", "", ""), window).error.find("no tool here traces GPU work"),
            std::string::npos);
  EXPECT_EQ(placed(tool_named("rpd", "runTracer.sh -o x"), {}).cmd, "runTracer.sh -o x");
}

} // namespace
} // namespace rankscope
