// Tests the scope and the action of findings about slow and late ranks, from handmade records.
#include "findings/rank_findings.h"

#include "findings/rules.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr std::int64_t kSlow = 2;

/// Four ranks with steps of 10 ms of computation, with noise of 0.01 ms. Rank 2 computes
/// `excess_ms(step)` longer.
struct FourRanks {
  template <class Excess> FourRanks(std::size_t steps, Excess excess_ms) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> noise(0, 0.01);
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      RankRecord& r = records.emplace_back();
      r.key.rank = rank;
      double all_ms = 0;
      for (std::size_t s = 0; s < steps; ++s) {
        const double ms = 10 + noise(random) + (rank == kSlow ? excess_ms(s) : 0.0);
        StepTimes& step = r.steps.emplace_back();
        step.step = static_cast<std::int64_t>(s);
        step.ns[static_cast<std::size_t>(TimeKind::kComputation)] =
            static_cast<std::int64_t>(ms * 1e6);
        all_ms += ms;
      }
      r.time_ns[static_cast<std::size_t>(TimeKind::kComputation)] =
          static_cast<std::int64_t>(all_ms * 1e6);
    }
  }
  Finding finding(const WorkByRank& operators = {}) const {
    const std::vector<Finding> found = findings(operators);
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().rule, rules::slow_rank.id);
    return found.empty() ? Finding() : found.front();
  }
  std::vector<Finding> findings(const WorkByRank& operators = {}) const {
    std::vector<ConfigurationRanks> run(1);
    for (const RankRecord& r : records)
      run.front().ranks.push_back(&r);
    return slow_rank_findings(slow_ranks(run), operators);
  }
  std::vector<RankRecord> records;
};

FourRanks slower_by(double ms) {
  return {8, [ms](std::size_t) { return ms; }};
}

/// Returns operators with these times per step on the peers; on rank 2, they are multiplied by the
/// factors.
WorkByRank operators(const std::map<std::string, double>& ms,
                     const std::map<std::string, double>& factors, std::int64_t more_calls = 0) {
  constexpr std::int64_t kSteps = 8;
  WorkByRank out;
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (const auto& [name, per_step] : ms) {
      const bool slow = rank == kSlow && factors.count(name) > 0;
      out[rank][name] = {per_step * 1e6 * kSteps * (slow ? factors.at(name) : 1),
                         kSteps * (5 + (slow ? more_calls : 0))};
    }
  return out;
}

TEST(RankFindings, OneStepOfFewRanksIsSaidToBeTooLittle) {
  const std::vector<Finding> found = FourRanks(1, [](std::size_t) { return 5.0; }).findings();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, rules::no_slow_rank.id);
  EXPECT_EQ(found[0].headline, "One step of 4 ranks cannot show whether a rank is slow");
}

// "Its GEMM kernels take as long (+3.98 %), so look for other kernels that it runs more often" was
// said although an operator was 16 % slower and no count differed.
TEST(RankFindings, TheActionNamesTheOperatorWithTheLargestExcess) {
  const std::map<std::string, double> ms = {{"aten::mm", 6}, {"aten::softmax", 6}};
  const Finding f =
      slower_by(1.2).finding(operators(ms, {{"aten::mm", 1.04}, {"aten::softmax", 1.16}}));
  EXPECT_EQ(f.action, "Rank 2: aten::softmax takes 0.960 ms longer per step than on its peers "
                      "(16.0 %); compare its shapes and kernels (rankscope report, sheet "
                      "ops_summary)");
}

TEST(RankFindings, ClocksAreSuspectedIfAllWorkIsSlowerAlike) {
  const std::map<std::string, double> ms = {
      {"aten::mm", 6}, {"aten::softmax", 5}, {"aten::add", 1}, {"aten::tiny", 0.1}};
  const Finding f = slower_by(1.2).finding(operators(
      ms, {{"aten::mm", 1.1}, {"aten::softmax", 1.09}, {"aten::add", 1.12}, {"aten::tiny", 2}}));
  EXPECT_EQ(f.action, "Rank 2: its operators take 9.0 to 12.0 % longer than those of its peers, so "
                      "check its GPU's clocks, power and temperature");
}

TEST(RankFindings, MoreCallsAreOnlyClaimedIfCounted) {
  const Finding f = slower_by(1.2).finding(
      operators({{"aten::mm", 6}, {"aten::softmax", 4}}, {{"aten::softmax", 1.3}}, 2));
  EXPECT_EQ(f.action, "Rank 2: it runs 2 calls of aten::softmax more per step than its peers, so "
                      "check its share of the work first");
}

// The GEMMs of an evaluation after the last step are in no step.
TEST(RankFindings, WorkOutsideOfTheStepsIsNoWorkOfTheSteps) {
  FourRanks run = slower_by(1.2);
  for (RankRecord& r : run.records)
    r.gemm_kernels["gemm"].count = 24; // three per step
  EXPECT_EQ(run.finding().action.find("GEMM kernels more"), std::string::npos);
  RankRecord& slow = run.records[kSlow];
  slow.gemm_kernels["gemm"].count += 24;
  EXPECT_NE(run.finding().action.find("it runs 3 GEMM kernels more per step"), std::string::npos);
  *slow.time_ns[static_cast<std::size_t>(TimeKind::kComputation)] += 40'000'000;
  EXPECT_EQ(run.finding().action,
            "Rank 2: compare its kernels within the steps with those of its peers (rankscope "
            "why); its work outside of the steps differs too");
}

// Larger inputs make all GEMMs longer alike, as slow clocks do.
TEST(RankFindings, OtherShapesAreNoSlowClock) {
  for (const bool shared : {false, true}) {
    FourRanks run = slower_by(1.2);
    for (RankRecord& r : run.records) {
      CallGroup& calls = r.calls.emplace_back();
      calls.key = r.key.rank == kSlow && !shared ? 2 : 1;
      calls.gemm = true;
      calls.blocks.emplace_back().us = 100;
      r.gemm_kernels["gemm"].count = 8;
      r.gemm_kernels["gemm"].sum_ns =
          static_cast<std::int64_t>(8 * 6e6 * (r.key.rank == kSlow ? 1.12 : 1));
    }
    const std::string action = run.finding().action;
    EXPECT_EQ(action.find("clocks") != std::string::npos, shared) << action;
    EXPECT_EQ(action.find("other shapes") != std::string::npos, !shared) << action;
  }
}

// Without operators, GEMM kernels and other kernels are compared.
TEST(RankFindings, WithoutOperatorsTwoFamiliesAreCompared) {
  const auto with_gemms = [](double slow_factor) {
    FourRanks run = slower_by(1.2);
    for (RankRecord& r : run.records) {
      RankRecord::Kernel& k = r.gemm_kernels["gemm"];
      k.count = 8;
      k.sum_ns = static_cast<std::int64_t>(8 * 6e6 * (r.key.rank == kSlow ? slow_factor : 1));
    }
    return run.finding().action;
  };
  EXPECT_NE(with_gemms(1.12).find("its GEMM kernels and other kernels take 12.0 "),
            std::string::npos)
      << with_gemms(1.12); // 0.72 of 6 ms, and 0.48 of 4 ms
  EXPECT_NE(with_gemms(1.12).find("clocks, power and temperature"), std::string::npos);
  EXPECT_NE(with_gemms(1.0).find("its other kernels take 1.2"), std::string::npos)
      << with_gemms(1.0);
  EXPECT_EQ(with_gemms(1.0).find("clocks"), std::string::npos);
}

// A GPU that throttles is slower in these steps; other steps would have another excess.
TEST(RankFindings, AnExcessThatRisesIsOneOfTheseSteps) {
  const Finding constant = slower_by(1).finding();
  EXPECT_EQ(constant.scope, FindingScope::kThisRun);
  EXPECT_EQ(constant.evidence.find("over these steps"), std::string::npos) << constant.evidence;
  const FourRanks rising(20, [](std::size_t s) { return 0.5 + 0.02 * static_cast<double>(s); });
  const Finding f = rising.finding();
  EXPECT_EQ(f.scope, FindingScope::kTheseSteps);
  EXPECT_NE(f.evidence.find("; the excess rises over these steps"), std::string::npos)
      << f.evidence;
}

// A GPU that throttles from the fifth step on: the scatter of its excess is that of the change.
TEST(RankFindings, AnExcessInMostStepsIsFoundWithItsRange) {
  const auto from_step = [](std::size_t first) {
    return FourRanks(12, [first](std::size_t s) { return s < first ? 0 : 1.06; });
  };
  const Finding f = from_step(4).finding();
  EXPECT_EQ(f.scope, FindingScope::kTheseSteps);
  EXPECT_NEAR(*f.value, 0.707, 0.01);
  EXPECT_FALSE(f.low || f.high);
  EXPECT_TRUE(f.headline.starts_with("Rank 2 computes 0.7")) << f.headline;
  EXPECT_NE(f.evidence.find("Mean of 0.00 to 1.07 ms in the steps"), std::string::npos)
      << f.evidence;
  EXPECT_NE(f.evidence.find("slowest in 9 of these 12 steps"), std::string::npos) << f.evidence;
  // four of twelve steps are not significant, but the power is that of the other ranks
  const std::vector<Finding> none = from_step(8).findings();
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].rule, rules::no_slow_rank.id);
  EXPECT_TRUE(none[0].evidence.starts_with("Rank 2 computes longer by 0.3")) << none[0].evidence;
  EXPECT_NE(none[0].evidence.find("ms in the steps; for other ranks, these 12 steps can show"),
            std::string::npos)
      << none[0].evidence;
}

// The GEMMs of a rank with an extra kernel are longer by noise, all alike.
TEST(RankFindings, OperatorsThatDoNotExplainTheExcessAreNotTheReason) {
  const WorkByRank work =
      operators({{"aten::mm", 6}, {"aten::addmm", 4}, {"aten::clip_grad", 0.01}},
                {{"aten::mm", 1.0005}, {"aten::addmm", 1.0006}, {"aten::clip_grad", 200}}, 1);
  const std::string action = slower_by(2).finding(work).action;
  EXPECT_EQ(action.find("clocks"), std::string::npos) << action;
  EXPECT_NE(action.find("aten::clip_grad"), std::string::npos) << action;
}

TEST(RankFindings, ALatenessThatFallsIsOneOfTheseSteps) {
  const auto finding = [](double fall_us) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> noise(0, 1);
    CollectiveFacts facts;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      Straggler& s = facts.stragglers.emplace_back();
      s.rank = rank;
      s.collectives = 12;
      for (int step = 0; step < 12; ++step)
        s.late_us.push_back(noise(random) + (rank == kSlow ? 100 - fall_us * step : 0.0));
    }
    const std::vector<Finding> found = late_rank_findings(late_ranks(facts), 0, {});
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().rule, rules::late_rank.id);
    return found.front();
  };
  EXPECT_EQ(finding(0).scope, FindingScope::kThisRun);
  EXPECT_EQ(finding(4).scope, FindingScope::kTheseSteps);
  EXPECT_NE(finding(4).evidence.find("the lateness falls"), std::string::npos);
}

// Rank 5 is late in both of its groups. Rank 2 waits for it in the smaller one, so it is late only
// in the group of all ranks.
TEST(RankFindings, ARankThatWaitsForALateRankIsNotTheReason) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 1);
  CollectiveFacts facts;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    Straggler& s = facts.stragglers.emplace_back();
    s.rank = rank;
    s.collectives = 24;
    const double late_us = rank == 2 ? 50 : rank == 5 ? 100 : 0;
    for (int step = 0; step < 12; ++step)
      s.late_us.push_back(noise(random) + late_us);
    s.late_us_by_group["all"] = rank == 2 || rank == 5 ? 100 : 0;
    s.late_us_by_group[rank % 3 == 2 ? "pair" : "others"] = rank == 5 ? 100 : 1;
  }
  const std::vector<Finding> found = late_rank_findings(late_ranks(facts), 0, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].action.rfind("Rank 5: find the work before its collectives", 0), 0U)
      << found[0].action;
  EXPECT_EQ(found[1].action, "Rank 2: look at rank 5 first, for which it waits in group pair");
}

// Rank 5 is late by 2 ms in the group of all ranks, and rank 4 in the group of both by 0.24 ms.
// Both leave the group of all ranks together, and 0.24 ms do not make rank 5 late by 2 ms.
TEST(RankFindings, LateRanksDoNotPointAtEachOther) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 1);
  CollectiveFacts facts;
  for (std::int64_t rank = 0; rank < 8; ++rank) {
    Straggler& s = facts.stragglers.emplace_back();
    s.rank = rank;
    s.collectives = 60;
    const double late_us = rank == 5 ? 400 : rank == 4 ? 48 : 0;
    for (int step = 0; step < 12; ++step)
      s.late_us.push_back(noise(random) + late_us);
    s.late_us_by_group["all"] = rank == 5 ? 24'000 : 0;
    s.late_us_by_group[rank / 2 == 2 ? "pair" : "others"] = rank == 4   ? 2'880
                                                            : rank == 5 ? -2'880
                                                                        : 0;
  }
  for (const Finding& f : late_rank_findings(late_ranks(facts), 0, {}))
    EXPECT_EQ(f.action.find("look at rank"), std::string::npos) << f.action;
}

} // namespace
} // namespace rankscope
