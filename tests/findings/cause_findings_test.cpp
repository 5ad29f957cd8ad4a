#include "findings/cause_findings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(CauseFindings, ARankWithoutACauseIsLateOnlyWhereItsTimesShowIt) {
  CauseFacts facts;
  facts.ranks = 4;
  facts.stacks = true;
  facts.floor_ms = 0.05;
  const auto text = [&facts] { return unsaid_lines(facts).at(0); };
  for (const auto& [excess_ms, what] :
       {std::pair(0.0, "rank 3 is later than its peers; "),
        std::pair(5.76, "rank 3 computes 5.76 ms longer than its peers; ")}) {
    facts.unexplained_ranks = {{3, excess_ms}};
    facts.late_rank_parts.clear();
    EXPECT_EQ(text(),
              std::string(what) + "no collective of four or more ranks shows when it arrives");
    facts.late_rank_parts.resize(1);
    facts.late_rank_parts[0].rank = 3;
    facts.late_rank_parts[0].all.excess_ms = -4.02;
    EXPECT_EQ(text(), std::string(what) +
                          "at collectives of four or more ranks it is late by less than 0.0500 ms, "
                          "and no gain of 0.0500 ms is found");
    facts.late_rank_parts[0].all.excess_ms = 4.02;
    EXPECT_EQ(text(), std::string(what) + "the differences of its kernels and host activities do "
                                          "not add up to this");
    PartExcess& other_groups =
        facts.late_rank_parts[0].parts[static_cast<std::size_t>(StretchPart::kOtherGroups)];
    other_groups.excess_ms = 4;
    EXPECT_EQ(text(), std::string(what) + "it waits for other ranks in its other groups");
    std::swap(other_groups,
              facts.late_rank_parts[0].parts[static_cast<std::size_t>(StretchPart::kHost)]);
    EXPECT_EQ(text(), std::string(what) +
                          "the difference is in its host, but no gain of 0.0500 ms is significant");
    PartExcess& kernels =
        facts.late_rank_parts[0].parts[static_cast<std::size_t>(StretchPart::kKernels)];
    kernels.excess_ms = 0.5;
    kernels.low_ms = -0.1;
    EXPECT_NE(text().find("in its host, but"), std::string::npos) << text();
    kernels.low_ms = 0.1;
    EXPECT_NE(text().find("in its kernels and host, but"), std::string::npos) << text();
  }
}

TEST(CauseFindings, ARankBelowTheFloorIsNotCalledUnexplained) {
  CauseFacts facts;
  facts.ranks = 256;
  facts.stacks = true;
  facts.floor_ms = 0.05;
  facts.late_rank_parts.resize(1);
  facts.late_rank_parts[0].rank = 3;
  PartExcess& late = facts.late_rank_parts[0].all;
  late.excess_ms = 0.0490;
  facts.unexplained_ranks = {{3, 0.0492, true}};
  EXPECT_EQ(unsaid_lines(facts).at(0),
            "rank 3 computes 0.0492 ms longer than its peers; the difference is in its activities, "
            "but gains below 0.0500 ms are not listed");
  facts.unexplained_ranks = {{3, 0}};
  late.low_ms = 0.0480; // significantly late
  EXPECT_EQ(unsaid_lines(facts).at(0),
            "rank 3 is later than its peers; at collectives of four or more ranks it is late by "
            "0.0490 ms, and no reason is looked for below 0.0500 ms");
}

// The page says "no gain is printed", and names a listed rule again only for its other activities.
TEST(CauseFindings, WhatIsNotReportedAgreesWithTheRestOfThePage) {
  CauseFacts facts;
  facts.stacks = true;
  facts.unsaid = {{CauseRule::kHostCode, UnsaidReason::kBelowNoise, 2, 1.86}};
  const std::string line = unsaid_lines(facts).at(0);
  EXPECT_TRUE(line.starts_with("host-code: ")) << line;
  EXPECT_TRUE(line.ends_with(" (gain 1.86 ms)")) << line;
  facts.quality.path_ns = 100;
  facts.quality.unexplained_ns = 62;
  EXPECT_EQ(unsaid_lines(facts).at(0) + " (gain 1.86 ms)", line);
  facts.causes.resize(1);
  facts.causes[0].rule = CauseRule::kHostCode;
  EXPECT_TRUE(unsaid_lines(facts).at(0).starts_with("further host-code: "));
}

// The confidence may be lower for another reason.
TEST(CauseFindings, KernelsAreCalledAlikeIfTheyAre) {
  CauseFacts facts;
  facts.ranks = 8;
  StepCause& cause = facts.causes.emplace_back();
  cause.rule = CauseRule::kSlowGpu;
  cause.ranks = {4};
  cause.confidence = Confidence::kLikely;
  const auto says = [&facts](std::string_view text) {
    return cause_findings(facts).at(0).evidence.find(text) != std::string::npos;
  };
  EXPECT_TRUE(says("; all kernels alike"));
  cause.alike = false;
  EXPECT_TRUE(says("; not all kernels alike"));
}

TEST(CauseFindings, AHiddenCostIsNotPrinted) {
  CauseFacts facts;
  facts.floor_ms = 0.05;
  facts.stacks = true;
  facts.unsaid = {{CauseRule::kSlowHost, UnsaidReason::kExplained, 0.0001, 0}};
  EXPECT_EQ(unsaid_lines(facts).at(0), "slow-host: explained by the causes above");
  facts.unsaid[0].cost_ms = 0.2;
  EXPECT_EQ(unsaid_lines(facts).at(0), "slow-host: explained by the causes above (cost 0.200 ms)");
}

TEST(CauseFindings, AnIntervalIsShownOnlyIfItIsWiderThanItsDigits) {
  CauseFacts facts;
  facts.step_ms = 1.5;
  StepCause cause;
  cause.gain_ms = 0.341;
  cause.low_ms = 0.341;
  cause.high_ms = 0.341001;
  EXPECT_EQ(gain_text(facts, cause), "removing it gains 0.341 ms of 1.50 ms");
  cause.high_ms = 0.342;
  EXPECT_EQ(gain_text(facts, cause), "removing it gains 0.341 ms (0.341 to 0.342) of 1.50 ms");
}

// An even pipeline waits too, so a stage is not called late because others wait for it.
TEST(CauseFindings, ARankIsCalledLateOnlyIfItCausesMostOfTheWaiting) {
  CauseFacts facts;
  facts.ranks = 4;
  facts.job_ranks = 4;
  facts.steps = 4;
  facts.step_ms = 70;
  facts.exposed.wait_ms = 18;
  facts.exposed.transfer_ms = 2;
  facts.exposed.wait_for = {{1, 15}, {2, 3}};
  const auto action = [&facts] { return exposed_time_finding(facts)->action; };
  EXPECT_TRUE(action().starts_with("Find why rank 1 is late")) << action();
  facts.exposed.wait_for = {{1, 9}, {2, 9}};
  EXPECT_TRUE(action().starts_with("Find why ranks are late: no rank")) << action();
  facts.exposed.wait_for = {{1, 9.5}, {2, 8.5}};
  EXPECT_TRUE(action().starts_with("Find why rank 1 is late")) << action();
  facts.causes.resize(1);
  facts.causes[0].rule = CauseRule::kLaunchBound;
  facts.causes[0].ranks = {0, 1, 2, 3};
  EXPECT_TRUE(action().starts_with("Find why rank 1 is late")) << action();
  facts.causes[0].ranks = {1};
  facts.causes[0].gain_ms = 4; // less than half of the waiting for the rank
  EXPECT_TRUE(action().starts_with("Find why rank 1 is late")) << action();
  facts.causes[0].gain_ms = 8;
  EXPECT_TRUE(action().starts_with("Remove the cause on rank 1 (launch-bound)")) << action();
  facts.causes[0].ranks = {0, 1, 2, 3};
  EXPECT_TRUE(action().starts_with("Find why rank 1 is late")) << action();
  facts.causes[0].main_rank = 1;
  EXPECT_TRUE(action().starts_with("Remove the cause on rank 1 (launch-bound)")) << action();
  facts.causes.clear();
  facts.exposed.pair_wait_ms = 17;
  EXPECT_TRUE(action().starts_with("Compare the stages: rankscope whatif")) << action();
  EXPECT_EQ(exposed_time_finding(facts)->headline,
            "Communication is exposed for 20.0 ms of a step: 18.0 ms waiting for peers, 2.00 ms "
            "transfers");
}

TEST(CauseFindings, ARankIsNotCalledLateForALaterRecording) {
  CauseFacts facts;
  facts.ranks = facts.job_ranks = 8;
  facts.steps = 1;
  facts.step_ms = 13;
  facts.exposed.wait_ms = 5.66;
  facts.exposed.wait_for = {{7, 4.41, 3.30}, {5, 0.63}};
  EXPECT_EQ(exposed_time_finding(facts)->action,
            "Record more steps: rank 7 begins its first step later than the others, and the trace "
            "does not show why; faster or smaller collectives do not shorten the waiting");
  facts.exposed.wait_for[0].start_ms = 2;
  EXPECT_TRUE(exposed_time_finding(facts)->action.starts_with("Find why rank 7 is late"));
}

TEST(CauseFindings, MissingRanksAreNotAskedForAsAFolder) {
  CauseFacts facts;
  facts.ranks = 3;
  facts.job_ranks = 4;
  facts.steps = 4;
  facts.step_ms = 198;
  facts.exposed.wait_ms = 1.5;
  facts.exposed.unmatched_ms = 33.5;
  const std::optional<Finding> some = exposed_time_finding(facts);
  EXPECT_EQ(some->headline,
            "Communication is exposed for 35.0 ms of a step: 1.50 ms waiting for late ranks");
  EXPECT_EQ(some->action, "Add the traces of the missing ranks");
  facts.ranks = 1;
  EXPECT_EQ(exposed_time_finding(facts)->action,
            "Give the traces of all ranks: a folder instead of one trace");
}

TEST(CauseFindings, TheActionFitsTheCause) {
  CauseFacts facts;
  facts.step_ms = 10;
  facts.causes.resize(2);
  for (StepCause& cause : facts.causes) {
    cause.rule = CauseRule::kReadBack;
    cause.what = "aten::copy_";
  }
  facts.causes[1].from_host = true;
  std::vector<Finding> found = cause_findings(facts);
  EXPECT_TRUE(found[0].action.starts_with("Read the value every N steps")) << found[0].action;
  EXPECT_TRUE(found[1].action.starts_with("DataLoader(pin_memory=True)")) << found[1].action;
  EXPECT_EQ(remedy_table(facts).rows(), 2U);
  for (StepCause& cause : facts.causes) {
    cause = StepCause();
    cause.rule = CauseRule::kLaunchBound;
    cause.kernel_us = 600;
    cause.launch_us = 900;
  }
  facts.causes[1].what = "cudaGraphLaunch";
  found = cause_findings(facts);
  EXPECT_EQ(found[0].headline,
            "Launches are 900 \u00b5s apart, kernels take 600 \u00b5s (medians)");
  EXPECT_TRUE(found[0].action.starts_with("Launch graphs:")) << found[0].action;
  EXPECT_EQ(found[1].headline, "Graph launches are 900 \u00b5s apart, the kernels of each take 600 "
                               "\u00b5s (medians)");
  EXPECT_TRUE(found[1].action.starts_with("Shorten the host code")) << found[1].action;
}

TEST(CauseFindings, ClocksThatWereNotComparedAreNamed) {
  CauseFacts facts;
  facts.ranks = 2;
  EXPECT_EQ(clock_text(facts), "");
  facts.clock_error_ns = 300'000;
  EXPECT_TRUE(clock_text(facts).starts_with("the ranks' clocks agree to within 0.300 ms"));
  facts.clock_error_ns.reset();
  EXPECT_TRUE(clock_text(facts).starts_with("the clocks of ranks that share only sends"));
  facts.clock_conflict_ns = 400'000;
  EXPECT_TRUE(clock_text(facts).starts_with("the ranks' clocks differ: a receive ends 0.400 ms"));
  facts.ranks = 1;
  EXPECT_EQ(clock_text(facts), "");
}

// Three steps show no straggler of a few ms. This is not the same as "no rank is slow".
TEST(CauseFindings, ExcessesThatTheStepsCannotShowAreNotDenied) {
  CauseFacts facts;
  facts.floor_ms = 0.3;
  facts.visible_ms = 30.7;
  facts.step_ms = 54.1;
  facts.recorded_steps = 3;
  facts.stacks = true;
  EXPECT_EQ(unsaid_lines(facts),
            std::vector<std::string>{"ranks that compute less than 30.7 ms longer per step than "
                                     "their peers: these steps cannot show it"});
  facts.visible_ms = 0.2;
  EXPECT_TRUE(unsaid_lines(facts).empty());
  facts.visible_ms = 70;
  EXPECT_EQ(unsaid_lines(facts),
            std::vector<std::string>{
                "slow ranks: the differences between the ranks vary by more than a step"});
  facts.visible_ms = 0;
  facts.unclear_ranks = {{6, 0.523, -0.01, 1.57}};
  EXPECT_EQ(unsaid_lines(facts),
            std::vector<std::string>{"rank 6 computes 0.523 ms longer than its peers on average, "
                                     "but -0.01 to 1.57 ms in the steps: not significant"});
}

} // namespace
} // namespace rankscope
