// Tests facts that are known before a run, in a folder that imitates the system.
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
  std::vector<ProfileFact> facts(const std::string& tool, const EnvPairs& environment = {}) {
    const Result<ToolTable> table = ToolTable::builtin();
    Json use = Json::object();
    use.at("name") = tool;
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
    return *found;
  }
  /// Returns the only fact, which must have this type.
  template <class Fact> Fact only(const std::string& tool, const EnvPairs& environment = {}) {
    const std::vector<ProfileFact> found = facts(tool, environment);
    EXPECT_EQ(found.size(), 1U);
    EXPECT_TRUE(!found.empty() && found[0].is<Fact>());
    return found.empty() || !found[0].is<Fact>() ? Fact() : std::get<Fact>(found[0].what);
  }
  void SetUp() override { program("bin/app"); }
  TempFolder folder_;
};

using namespace profile;

TEST_F(ProfilePreflight, AToolThatIsInstalledElsewhereIsNamedWithItsFolder) {
  folder_.write("dev/kfd", "");
  program("opt/rocm-7.0/bin/rocprofv3");
  const auto missing = only<MissingTool>("rocprofv3");
  EXPECT_EQ(missing.place, folder_.path("opt/rocm-7.0/bin"));
  EXPECT_EQ(missing.searched, "PATH=" + folder_.path("bin"));
  program("bin/rocprofv3");
  EXPECT_TRUE(facts("rocprofv3").empty());
}

TEST_F(ProfilePreflight, DevicesThatAreNotThereOrMayNotBeOpened) {
  program("bin/rocprofv3");
  (void)only<MissingGpu>("rocprofv3");
  ::chmod(folder_.write("dev/kfd", "").c_str(), 0);
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may open everything";
  (void)only<ClosedGpu>("rocprofv3");
}

TEST_F(ProfilePreflight, AnotherTracerInTheEnvironment) {
  program("bin/rocprofv3");
  folder_.write("dev/kfd", "");
  (void)only<OtherTracer>("rocprofv3", {{"HSA_TOOLS_LIB", "librocprofiler64.so"}});
  (void)only<OtherTracer>("rocprofv3", {{"LD_PRELOAD", "/x/librpd_tracer.so"}});
  EXPECT_TRUE(facts("rocprofv3", {{"LD_PRELOAD", "/x/libjemalloc.so"}}).empty());
}

TEST_F(ProfilePreflight, WhatTheKernelAndTheDriverForbid) {
  program("bin/nsys");
  program("bin/ncu");
  folder_.write("dev/nvidiactl", "");
  folder_.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  (void)only<ClosedCpuSamples>("nsys");
  folder_.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_TRUE(facts("nsys").empty());
  folder_.write("proc/driver/nvidia/params", "X: 0\nRmProfilingAdminOnly: 1\n");
  if (::geteuid() == 0) {
    EXPECT_TRUE(facts("ncu_light").empty());
  } else {
    (void)only<ClosedCounters>("ncu_light");
  }
}

TEST_F(ProfilePreflight, LibrariesAreFoundInTheUsualFoldersAndInThePathOfLibraries) {
  (void)only<MissingLibrary>("nccl_inspector");
  const std::string file = folder_.write("mine/libnccl-profiler-inspector.so", "");
  EXPECT_TRUE(facts("nccl_inspector", {{"LD_LIBRARY_PATH", "/a:" + folder_.path("mine")}}).empty());
  folder_.write("usr/lib/libnccl-profiler-inspector.so", "");
  EXPECT_TRUE(facts("nccl_inspector").empty());
}

TEST_F(ProfilePreflight, AFallbackTakesThePlaceOfAnAbsentProgram) {
  const Result<ToolTable> table = ToolTable::builtin();
  Json use = Json::object();
  use.at("name") = "rocprof";
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
