// Tests which slow ranks and slow links of generated runs top, analyze and collectives name.
#include "analyses/sweep/sweep_compare.h"
#include "findings/collective_findings.h"
#include "findings/rank_findings.h"
#include "findings/rules.h"
#include "synth_records.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

synth::Options run_of(std::int64_t ranks, std::int64_t steps) {
  synth::Options o;
  o.threads = {256};
  o.channels = {56};
  o.ranks = ranks;
  o.layers = 1;
  o.steps = steps;
  o.straggler = -1;
  o.process_groups = 2;
  return o;
}

std::vector<std::int64_t> slow_of(const SlowRanks& slow) {
  std::vector<std::int64_t> out;
  for (const SlowRank& s : slow.ranks)
    out.push_back(s.rank);
  return out;
}

/// Returns the findings of the run: slow ranks, then those of its collectives.
std::vector<Finding> found_in(const synth::Options& o,
                              std::vector<std::int64_t>* slow_ranks_found) {
  const test::GeneratedSweep sweep = test::generated_sweep(o);
  const std::vector<ConfigurationRanks> groups = by_configuration(sweep.records);
  const SlowRanks slow = slow_ranks(groups);
  if (slow_ranks_found != nullptr)
    *slow_ranks_found = slow_of(slow);
  std::vector<Finding> out = slow_rank_findings(slow);
  const Result<CollectiveFacts> facts = collective_facts(sweep.collectives.front(), {});
  EXPECT_TRUE(facts);
  for (Finding& f : collective_findings(*facts))
    out.push_back(std::move(f));
  return out;
}

/// Returns the findings of a rule.
std::vector<Finding> of_rule(const std::vector<Finding>& findings, const FindingRule& rule) {
  std::vector<Finding> out;
  for (const Finding& f : findings)
    if (f.rule == rule.id)
      out.push_back(f);
  return out;
}

bool names_rank(const std::vector<Finding>& findings, std::int64_t rank) {
  for (const Finding& f : of_rule(findings, rules::slow_rank))
    if (f.subject == std::to_string(rank) &&
        f.headline.rfind(fmt::format("Rank {} computes ", rank), 0) == 0)
      return true;
  return false;
}

// HA-D1: with two steps, a slow rank was reported as not slow, and more certainly with more ranks.
TEST(SlowParts, TwoStepsOfManyRanksNameTheSlowRank) {
  for (const std::int64_t ranks : {64, 512}) {
    synth::Options o = run_of(ranks, 2);
    o.straggler = ranks / 3;
    o.straggler_us = 4000;
    std::vector<std::int64_t> slow;
    const std::vector<Finding> found = found_in(o, &slow);
    EXPECT_EQ(slow, std::vector<std::int64_t>{ranks / 3});
    EXPECT_TRUE(names_rank(found, ranks / 3)) << found.front().headline;
    EXPECT_EQ(found.front().scope, FindingScope::kTheseSteps); // only two steps
    EXPECT_TRUE(of_rule(found, rules::no_slow_rank).empty());
  }
}

// HA-D3: two slow ranks of one configuration are both named.
TEST(SlowParts, EverySlowRankIsNamed) {
  synth::Options o = run_of(64, 5);
  o.straggler = 5;
  o.straggler_us = 3000;
  o.throttled = 41;
  o.throttle_factor = 1.12;
  std::vector<std::int64_t> slow;
  const std::vector<Finding> found = found_in(o, &slow);
  EXPECT_EQ(slow, (std::vector<std::int64_t>{5, 41}));
  EXPECT_TRUE(names_rank(found, 5)) << found.front().headline;
  EXPECT_TRUE(names_rank(found, 41)) << found.front().headline;
  for (const Finding& f : of_rule(found, rules::slow_rank)) {
    EXPECT_EQ(f.scope, FindingScope::kThisRun);
    EXPECT_EQ(f.steps, 5U);
    EXPECT_GT(*f.low, 0);
    EXPECT_LT(*f.low, *f.value);
    EXPECT_LT(*f.value, *f.high);
  }
}

// A result without slow ranks includes the excess that the run could have shown.
TEST(SlowParts, ARunWithoutASlowRankSaysWhatItCouldShow) {
  synth::Options o = run_of(16, 5);
  o.equal_devices = true;
  const std::vector<Finding> found = found_in(o, nullptr);
  const std::vector<Finding> slow = of_rule(found, rules::no_slow_rank);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].headline, "No rank computes significantly longer than its peers");
  EXPECT_EQ(slow[0].evidence.rfind("These 5 steps can show an excess of ", 0), 0U)
      << slow[0].evidence;
  EXPECT_GT(*slow[0].detectable, 0);
  EXPECT_EQ(slow[0].unit, Unit::kMs);
  const std::vector<Finding> late = of_rule(found, rules::no_late_rank);
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].evidence.rfind("These 5 steps can show a lateness of ", 0), 0U)
      << late[0].evidence;
  EXPECT_GT(*late[0].detectable, 0);
  EXPECT_EQ(late[0].unit, Unit::kUs);
  EXPECT_TRUE(of_rule(found, rules::slow_rank).empty());
  EXPECT_TRUE(of_rule(found, rules::late_rank).empty());
}

// HA-D11, US-U1: a slow link is reported with the ranks of its group; without a slow link, nothing
// is reported.
TEST(SlowParts, ASlowLinkIsNamed) {
  synth::Options o = run_of(64, 5);
  EXPECT_TRUE(of_rule(found_in(o, nullptr), rules::slow_link).empty());
  o.slow_links = {{24, 25, 1.5}};
  const std::vector<Finding> links = of_rule(found_in(o, nullptr), rules::slow_link);
  ASSERT_EQ(links.size(), 1U);
  const Finding& link = links[0];
  EXPECT_EQ(link.headline.rfind("Ranks 24, 25: allreduce reaches ", 0), 0U) << link.headline;
  EXPECT_NE(link.headline.find(" 33 % below the other groups"), std::string::npos) << link.headline;
  EXPECT_NE(link.evidence.find("in the 31 other groups of its kind and size"), std::string::npos)
      << link.evidence;
  EXPECT_EQ(link.subject_kind, "group");
  EXPECT_EQ(link.unit, Unit::kGBps);
}

// With 16 ranks there are eight groups of two, and with six ranks there are three. A rank behind
// the slow link is late, but its own work is normal.
TEST(SlowParts, ASlowLinkOfAFewGroupsIsNamed) {
  for (const std::int64_t ranks : {6, 16}) {
    synth::Options o = run_of(ranks, 5);
    EXPECT_TRUE(of_rule(found_in(o, nullptr), rules::slow_link).empty()) << ranks;
    o.slow_links = {{4, 5, 1.5}};
    const std::vector<Finding> found = found_in(o, nullptr);
    const std::vector<Finding> links = of_rule(found, rules::slow_link);
    ASSERT_EQ(links.size(), 1U) << ranks;
    EXPECT_EQ(links[0].headline.rfind("Ranks 4, 5: allreduce reaches ", 0), 0U)
        << links[0].headline;
    EXPECT_NE(links[0].evidence.find(
                  fmt::format("in the {} other groups of its kind and size", ranks / 2 - 1)),
              std::string::npos)
        << links[0].evidence;
    for (const Finding& late : of_rule(found, rules::late_rank))
      EXPECT_NE(late.action.find("check the slow link of its group"), std::string::npos)
          << late.action;
  }
  synth::Options o = run_of(4, 5); // two groups
  o.slow_links = {{2, 3, 3}};
  EXPECT_TRUE(of_rule(found_in(o, nullptr), rules::slow_link).empty());
}

} // namespace
} // namespace rankscope
