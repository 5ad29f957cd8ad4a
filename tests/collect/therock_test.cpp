// Tests detection of TheRock builds of ROCm, in folders that imitate them.
#include "collect/profile/therock_tool.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

class TheRockCheck : public ::testing::Test {
protected:
  void SetUp() override {
    target_.root = folder_.path();
    target_.path = folder_.path("bin");
  }
  [[nodiscard]] std::optional<TheRock> found(const EnvPairs& environment = {}) {
    searched_.clear();
    return find_therock(target_, environment, searched_);
  }
  test::TempFolder folder_;
  PreflightTarget target_;
  std::vector<std::string> searched_;
};

TEST_F(TheRockCheck, AnOrdinaryRocmIsNone) {
  folder_.write("opt/rocm/.info/version", "7.0.0\n");
  EXPECT_FALSE(found());
  EXPECT_NE(std::find(searched_.begin(), searched_.end(), folder_.path("opt/rocm")),
            searched_.end());
}

TEST_F(TheRockCheck, ByItsManifest) {
  folder_.write("opt/rocm-7.14/share/therock/therock_manifest.json", "{}");
  folder_.write("opt/rocm-7.14/.info/version", "7.14.0\n");
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->place, folder_.path("opt/rocm-7.14"));
  EXPECT_EQ(found()->version, "7.14.0");
  folder_.write("mine/share/therock/therock_manifest.json", "{}");
  EXPECT_EQ(found({{"ROCM_PATH", folder_.path("mine")}})->place, folder_.path("mine"));
}

TEST_F(TheRockCheck, ByItsPythonPackages) {
  folder_.write("venv/lib/python3.12/site-packages/_rocm_sdk_core/.info/version", "7.12.0\n");
  EXPECT_FALSE(found());
  EXPECT_EQ(found({{"VIRTUAL_ENV", folder_.path("venv")}})->version, "7.12.0");
  // found by the program in that environment
  ::chmod(folder_.write("venv/bin/rocm-sdk", "#!/bin/sh\n").c_str(), 0755);
  target_.path = folder_.path("venv/bin");
  EXPECT_EQ(found()->place, folder_.path("venv/lib/python3.12/site-packages/_rocm_sdk_core"));
}

TEST_F(TheRockCheck, ByItsProgramAlone) {
  ::chmod(folder_.write("bin/rocm-sdk", "#!/bin/sh\n").c_str(), 0755);
  EXPECT_EQ(found()->place, folder_.path("bin/rocm-sdk"));
}

TEST_F(TheRockCheck, IsAToolThatStopsNothing) {
  const Result<ToolTable> table = ToolTable::builtin();
  Json use = Json::object();
  use.at("name") = "therock_check";
  std::vector<std::string> notes;
  Plan plan;
  EXPECT_EQ(make_therock_tool(plan, target_, {}), nullptr);
  const Result<ToolEntry> entry = table->entry(use, "test", notes);
  ASSERT_TRUE(entry) << entry.error().message();
  plan.tools.push_back(*entry);
  const auto tool = make_therock_tool(plan, target_, {});
  ASSERT_NE(tool, nullptr);
  std::vector<ProfileFact> facts;
  Json metrics = Json::object();
  ASSERT_TRUE(tool->begin());
  ASSERT_TRUE(tool->end(facts, metrics));
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_TRUE(facts[0].is<profile::OtherRocm>());
  EXPECT_FALSE(metrics.find("therock")->find("found")->flag);
  folder_.write("opt/rocm/share/therock/therock_manifest.json", "{}");
  facts.clear();
  ASSERT_TRUE(tool->end(facts, metrics));
  EXPECT_TRUE(facts.empty());
  EXPECT_TRUE(metrics.find("therock")->find("found")->flag);
}

} // namespace
} // namespace rankscope
