// Tests findings about one run of a sweep, in addition to its exit code.
#include "findings/run_check_findings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::vector<std::string> sentences(const RunCheck& check) {
  return sentences_of(run_check_findings("a", check));
}

TEST(RunCheckFindings, NothingIsSaidOfAnOrdinaryRun) {
  EXPECT_TRUE(run_check_findings("a", {}).empty());
}

TEST(RunCheckFindings, WhatTheLibraryUsed) {
  using Kind = SettingCheck::Kind;
  RunCheck check;
  check.library.differences = {{Kind::kValue, "NCCL_ALGO", "Ring", "Tree", {"h:1"}, 1},
                               {Kind::kUnread, "NCCL_NTHREADS", "threads 256", "", {"h:1"}, 1},
                               {Kind::kChannelCount, "channels", "56", "24 to 32", {}, 0}};
  check.library.warnings = {"Cuda failure", "no P2P"};
  const std::vector<Finding> found = run_check_findings("a", check);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].rule, "other-setting");
  EXPECT_EQ(found[0].subject, "a: NCCL_ALGO");
  EXPECT_EQ(found[0].sentence(),
            "NCCL_ALGO was Tree, not Ring. The library's log has Tree of NCCL_ALGO.");
  EXPECT_EQ(found[1].sentence(),
            "threads 256: the library did not read NCCL_NTHREADS. The library's log lists other "
            "variables.");
  EXPECT_EQ(found[2].headline, "24 to 32 channels were used, not 56");
  EXPECT_EQ(found[3].rule, "library-warning");
  EXPECT_EQ(found[3].sentence(), "The library warned. Cuda failure.");
  EXPECT_NE(found[3].subject, found[4].subject);
  RunCheck silent;
  silent.library.silent = true;
  EXPECT_EQ(run_check_findings("a", silent).at(0).rule, "unconfirmed-setting");
}

TEST(RunCheckFindings, WhichProcessesHaveOtherValues) {
  using Kind = SettingCheck::Kind;
  RunCheck check;
  check.library.differences = {
      {Kind::kValue, "NCCL_ALGO", "Ring", "Tree", {"h1:6"}, 8},
      {Kind::kUnread, "NCCL_NTHREADS", "threads 256", "", {"h1:1", "h1:2"}, 8}};
  EXPECT_EQ(
      sentences(check),
      (std::vector<std::string>{
          "NCCL_ALGO was Tree in 1 of 8 processes, not Ring. The log of process h1:6 has Tree "
          "of NCCL_ALGO.",
          "threads 256: the library did not read NCCL_NTHREADS in 2 of 8 processes. The log "
          "of process h1:1 lists other variables."}));
}

TEST(RunCheckFindings, WhatTheRunLeft) {
  RunCheck check;
  check.left_behind = 1;
  check.grace_s = 10;
  EXPECT_EQ(sentences(check).at(0), "1 process still ran after the end of the command. All ended "
                                    "when they were asked to.");
  check.left_behind = 3;
  check.killed = 2;
  check.lost_output = "the disk is full";
  const std::vector<Finding> found = run_check_findings("a", check);
  EXPECT_EQ(found.at(0).rule, "processes-left");
  EXPECT_EQ(found.at(0).value, 3);
  EXPECT_EQ(found.at(0).sentence(), "3 processes still ran after the end of the command. 2 did not "
                                    "end within 10 s and were killed.");
  EXPECT_EQ(found.at(1).rule, "incomplete-output");
  EXPECT_EQ(found.at(1).sentence(), "run_output.log is incomplete. the disk is full.");
}

TEST(RunCheckFindings, WhatTheSamplesOfPowerLack) {
  RunCheck check;
  check.no_energy = "no GPU reports its power";
  check.lost_samples = "the disk is full";
  check.energy = {{EnergyDoubt::Kind::kLostGpu, 2, 6, 0.4}};
  const std::vector<Finding> found = run_check_findings("a", check);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].sentence(), "The energy was not measured. no GPU reports its power.");
  EXPECT_EQ(found[0].rule, "unmeasured-energy");
  EXPECT_EQ(found[1].sentence(), "The samples of power are incomplete. the disk is full.");
  EXPECT_EQ(found[2].rule, "lost-gpu");
  EXPECT_EQ(found[2].subject, "a: GPU 2");
  EXPECT_EQ(found[2].sentence(),
            "GPU 2 gave no readings for the last 6.00 s of the run. The measured energy covers "
            "40.0 % of the run. Check the kernel log for resets of the GPU (dmesg).");
}

TEST(RunCheckFindings, LongNamesFit) {
  RunCheck check;
  const std::string name(200, 'x');
  for (const auto kind :
       {SettingCheck::Kind::kValue, SettingCheck::Kind::kUnread, SettingCheck::Kind::kChannelCount})
    check.library.differences.push_back({kind, name, name, name, {name}, 2});
  for (const Finding& f : run_check_findings(name, check))
    EXPECT_LE(f.headline.size(), kHeadlineWidth) << f.headline;
}

} // namespace
} // namespace rankscope
