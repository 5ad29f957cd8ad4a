// Slow ranks and slow links of generated runs, as top, analyze and collectives name them.
#include "analyses/collectives/collective_facts.h"
#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/slow_rank_words.h"
#include "analyses/sweep/sweep_compare.h"
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
  for (const SlowRank& s : slow.told)
    out.push_back(s.rank);
  return out;
}

/// The sentences of the run: slow ranks, then those of its collectives.
std::vector<std::string> said_of(const synth::Options& o,
                                 std::vector<std::int64_t>* slow_ranks_found) {
  const test::GeneratedSweep sweep = test::generated_sweep(o);
  const SlowRanks slow = slow_ranks(by_configuration(sweep.records));
  if (slow_ranks_found != nullptr)
    *slow_ranks_found = slow_of(slow);
  std::vector<std::string> out = slow_rank_findings(slow, false);
  const Result<CollectiveFacts> facts = collective_facts(sweep.collectives.front(), {});
  EXPECT_TRUE(facts);
  for (const CollectiveSentence& f : facts->findings)
    out.push_back(f.text);
  return out;
}

bool any_begins(const std::vector<std::string>& sentences, const std::string& text) {
  for (const std::string& s : sentences)
    if (s.rfind(text, 0) == 0)
      return true;
  return false;
}

// HA-D1: with two steps the slow rank was denied, the surer the more ranks.
TEST(SlowParts, TwoStepsOfManyRanksNameTheSlowRank) {
  for (const std::int64_t ranks : {64, 512}) {
    synth::Options o = run_of(ranks, 2);
    o.straggler = ranks / 3;
    o.straggler_us = 4000;
    std::vector<std::int64_t> slow;
    const std::vector<std::string> said = said_of(o, &slow);
    EXPECT_EQ(slow, std::vector<std::int64_t>{ranks / 3});
    EXPECT_TRUE(any_begins(said, fmt::format("rank {} computes ", ranks / 3))) << said.front();
    EXPECT_FALSE(any_begins(said, "no rank computes "));
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
  const std::vector<std::string> said = said_of(o, &slow);
  EXPECT_EQ(slow, (std::vector<std::int64_t>{5, 41}));
  EXPECT_TRUE(any_begins(said, "rank 5 computes ")) << said.front();
  EXPECT_TRUE(any_begins(said, "rank 41 computes ")) << said.front();
}

// Silence has its power: what a quiet run could have shown.
TEST(SlowParts, ARunWithoutASlowRankSaysWhatItCouldShow) {
  synth::Options o = run_of(16, 5);
  o.equal_devices = true;
  const std::vector<std::string> said = said_of(o, nullptr);
  EXPECT_TRUE(any_begins(said,
                         "no rank computes significantly longer than its peers; these 5 steps "
                         "can show an excess of "))
      << said.front();
  EXPECT_TRUE(any_begins(said, "no rank starts collectives significantly later than the other "
                               "members; these 5 steps can show a lateness of "));
}

// HA-D11, US-U1: the group of a slow link is named with its ranks; without one nothing is.
TEST(SlowParts, ASlowLinkIsNamed) {
  synth::Options o = run_of(64, 5);
  EXPECT_FALSE(any_begins(said_of(o, nullptr), "group "));
  o.slow_links = {{24, 25, 1.5}};
  const std::vector<std::string> said = said_of(o, nullptr);
  const auto link = std::find_if(said.begin(), said.end(),
                                 [](const std::string& s) { return s.rfind("group ", 0) == 0; });
  ASSERT_NE(link, said.end());
  EXPECT_NE(link->find("(ranks 24, 25): allreduce reaches "), std::string::npos) << *link;
  EXPECT_NE(link->find(" 33 % below the median of the 31 other groups of its kind and size"),
            std::string::npos)
      << *link;
  std::int64_t groups = 0;
  for (const std::string& s : said)
    groups += s.rfind("group ", 0) == 0 ? 1 : 0;
  EXPECT_EQ(groups, 1);
}

} // namespace
} // namespace rankscope
