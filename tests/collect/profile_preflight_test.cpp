// What is known before a run, below a folder that imitates the system.
#include "collect/profile/preflight.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope {
namespace {

using test::TempFolder;

class ProfilePreflight : public ::testing::Test {
protected:
  void program(const std::string& path) const {
    ::chmod(folder_.write(path, "#!/bin/sh\n").c_str(), 0755);
  }
  std::vector<std::string> codes(const std::string& tool, const EnvPairs& environment = {}) {
    const Result<ToolTable> table = ToolTable::builtin();
    Json use = Json::object();
    use.at("name") = Json::of(tool);
    std::vector<std::string> notes;
    const Result<ToolEntry> entry = table->entry(use, "test", notes);
    PlanRequest request;
    request.tools = {*entry};
    request.command = {folder_.path("bin/app")};
    const Result<Plan> plan = make_plan(request);
    PreflightTarget target;
    target.root = folder_.path();
    target.path = folder_.path("bin");
    const auto found = preflight(*plan, target, *table, environment);
    EXPECT_TRUE(found);
    std::vector<std::string> out;
    for (const PlanFinding& f : *found) {
      out.push_back(f.code);
      last_ = f;
    }
    return out;
  }
  void SetUp() override { program("bin/app"); }
  TempFolder folder_;
  PlanFinding last_;
};

using Codes = std::vector<std::string>;

TEST_F(ProfilePreflight, AToolThatIsInstalledElsewhereIsNamedWithItsFolder) {
  folder_.write("dev/kfd", "");
  program("opt/rocm-7.0/bin/rocprofv3");
  EXPECT_EQ(codes("rocprofv3"), (Codes{"E-TOOL-MISSING"}));
  EXPECT_NE(last_.evidence.find("/opt/rocm-7.0/bin (not on PATH)"), std::string::npos)
      << last_.evidence;
  EXPECT_NE(last_.next.find("PATH="), std::string::npos);
  program("bin/rocprofv3");
  EXPECT_EQ(codes("rocprofv3"), Codes{});
}

TEST_F(ProfilePreflight, DevicesThatAreNotThereOrMayNotBeOpened) {
  program("bin/rocprofv3");
  EXPECT_EQ(codes("rocprofv3"), (Codes{"W-NO-GPU"}));
  ::chmod(folder_.write("dev/kfd", "").c_str(), 0);
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may open everything";
  EXPECT_EQ(codes("rocprofv3"), (Codes{"W-GPU-PERMISSION"}));
}

TEST_F(ProfilePreflight, AnotherTracerInTheEnvironment) {
  program("bin/rocprofv3");
  folder_.write("dev/kfd", "");
  EXPECT_EQ(codes("rocprofv3", {{"HSA_TOOLS_LIB", "librocprofiler64.so"}}),
            (Codes{"W-HSA-TOOLS-LIB"}));
  EXPECT_EQ(codes("rocprofv3", {{"LD_PRELOAD", "/x/librpd_tracer.so"}}),
            (Codes{"W-HSA-TOOLS-LIB"}));
  EXPECT_EQ(codes("rocprofv3", {{"LD_PRELOAD", "/x/libjemalloc.so"}}), Codes{});
}

TEST_F(ProfilePreflight, WhatTheKernelAndTheDriverForbid) {
  program("bin/nsys");
  program("bin/ncu");
  folder_.write("dev/nvidiactl", "");
  folder_.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  EXPECT_EQ(codes("nsys"), (Codes{"W-PERF-PARANOID"}));
  folder_.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(codes("nsys"), Codes{});
  folder_.write("proc/driver/nvidia/params", "X: 0\nRmProfilingAdminOnly: 1\n");
  EXPECT_EQ(codes("ncu_light"), ::geteuid() == 0 ? Codes{} : (Codes{"W-NV-ADMIN-ONLY"}));
}

TEST_F(ProfilePreflight, LibrariesAreFoundInTheUsualFoldersAndInThePathOfLibraries) {
  EXPECT_EQ(codes("nccl_inspector"), (Codes{"E-LIB-MISSING"}));
  const std::string file = folder_.write("mine/libnccl-profiler-inspector.so", "");
  EXPECT_EQ(codes("nccl_inspector", {{"LD_LIBRARY_PATH", "/a:" + folder_.path("mine")}}), Codes{});
  folder_.write("usr/lib/libnccl-profiler-inspector.so", "");
  EXPECT_EQ(codes("nccl_inspector"), Codes{});
}

TEST_F(ProfilePreflight, AFallbackTakesThePlaceOfAnAbsentProgram) {
  const Result<ToolTable> table = ToolTable::builtin();
  Json use = Json::object();
  use.at("name") = Json::of("rocprof");
  std::vector<std::string> notes;
  PreflightTarget target;
  target.path = folder_.path("bin");
  std::vector<ToolEntry> tools = {*table->entry(use, "test", notes)};
  program("bin/rocprofv3");
  ASSERT_TRUE(choose_fallbacks(target, tools, notes));
  EXPECT_EQ(program_of(tools[0]), "rocprofv3");
  EXPECT_EQ(notes.size(), 1U);
  tools = {*table->entry(use, "test", notes)};
  program("bin/rocprof");
  ASSERT_TRUE(choose_fallbacks(target, tools, notes));
  EXPECT_EQ(program_of(tools[0]), "rocprof");
}

} // namespace
} // namespace rankscope
