// Tests findings about the collectives of a run, from handmade facts.
#include "findings/collective_findings.h"

#include "analyses/collectives/exposed_waits.h"

#include "base/display_text.h"
#include "findings/rules.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

Straggler arrives(std::int64_t rank, std::vector<double> late_us) {
  Straggler out;
  out.rank = rank;
  out.collectives = static_cast<std::int64_t>(late_us.size());
  out.shortest = rank == 6 ? 3 : 0;
  out.late_us = std::move(late_us);
  return out;
}

TEST(CollectiveFindings, ARankIsNamedOnlyBeyondTheNoiseBetweenSteps) {
  CollectiveFacts facts;
  facts.stragglers = {arrives(4, {-50, -49, -51, -50}), arrives(6, {50, 49, 51, 50})};
  std::vector<Finding> findings = collective_findings(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].headline,
            "Rank 6 starts collectives 50.0 \u00b5s later than the other members");
  EXPECT_EQ(
      findings[0].evidence,
      "95 % CI 47.6 to 52.4 \u00b5s over all ranks, from the durations of 4 collectives in 4 "
      "steps; "
      "last to start in 75 % of them; too few steps to test whether they depend on each other");
  EXPECT_EQ(findings[0].subject_kind, "rank");
  EXPECT_EQ(findings[0].subject, "6");
  EXPECT_NEAR(*findings[0].low, 47.6, 0.05);
  EXPECT_NEAR(*findings[0].high, 52.4, 0.05);
  EXPECT_EQ(findings[0].scope, FindingScope::kThisRun);
  facts.stragglers = {arrives(4, {40, -49, 30, -40}), arrives(6, {-40, 49, -30, 40})};
  findings = collective_findings(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].headline,
            "No rank starts collectives significantly later than the other members");
  EXPECT_EQ(findings[0].evidence.rfind("These 4 steps can show a lateness of ", 0), 0U)
      << findings[0].evidence;
  // with one step, there is no variation to compare with
  facts.stragglers = {arrives(4, {40}), arrives(6, {-40})};
  EXPECT_TRUE(collective_findings(facts).empty());
}

TEST(CollectiveFindings, LateRanksOfANodeAreOneFinding) {
  CollectiveFacts facts;
  facts.per_node = 4;
  for (std::int64_t r = 0; r < 16; ++r) {
    const double late = r >= 4 && r < 8 ? 50 + static_cast<double>(r) : 0;
    facts.stragglers.push_back(arrives(r, {late, late + 1, late - 1, late, late + 1, late - 1}));
  }
  const std::vector<Finding> findings = collective_findings(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].headline.rfind("Ranks 4-7 (node 1) start collectives ", 0), 0U)
      << findings[0].headline;
  EXPECT_EQ(findings[0].subject_kind, "ranks");
  EXPECT_EQ(findings[0].subject, "4-7"); // the same with and without known nodes
}

TEST(CollectiveFindings, TheRankOrNodeOfAllSlowLinksIsNamed) {
  const auto actions = [](const std::set<std::size_t>& slow) {
    CollectiveFacts facts;
    facts.per_node = 8;
    for (std::size_t g = 0; g < 64; ++g) { // 64 ranks: pairs in a node, then pairs between nodes
      SyncSummary row;
      row.name = g < 32 ? "allreduce" : "allgather";
      row.group = std::to_string(g);
      row.group_ranks =
          g < 32 ? fmt::format("[{}, {}]", 2 * g, 2 * g + 1) : fmt::format("[{}, {}]", g - 32, g);
      row.count = 8;
      row.group_size = 2;
      row.bus_gbps.mean = slow.contains(g) ? 50 : 100;
      facts.summary.push_back(row);
    }
    std::set<std::string> out;
    for (const Finding& f : collective_findings(facts))
      out.insert(f.action);
    return out;
  };
  using Actions = std::set<std::string>;
  EXPECT_EQ(actions({6}), Actions{"Check the link between ranks 12, 13"});
  EXPECT_EQ(actions({8, 9}), (Actions{"Check the link between ranks 16, 17",
                                      "Check the link between ranks 18, 19"}));
  EXPECT_EQ(actions({6, 44}), // the pairs of ranks 12 and 13, and of ranks 12 and 44
            Actions{"Check the links of rank 12: all 2 slow groups contain it, and no other group "
                    "of their kind and size does"});
  EXPECT_EQ(actions({8, 9, 10, 11}),
            Actions{"Check the links of node 2 (ranks 16 to 23): all 4 slow groups have members "
                    "there, and no other group of their kind and size does"});
}

TEST(CollectiveFindings, HeadlinesFitAndSubjectsAreDistinctWhateverTheNames) {
  CollectiveFacts facts;
  for (std::int64_t g = 0; g < 60; ++g) {
    SyncSummary row;
    row.name = std::string(200, 'n');
    row.group = std::string(200, 'g') + std::to_string(g);
    row.group_ranks = "[" + std::string(200, '1') + "]";
    row.count = 8;
    row.group_size = 2;
    row.bus_gbps.mean = g < 6 ? 10 + static_cast<double>(g) / 10 : 100;
    facts.summary.push_back(row);
  }
  facts.exposed_types.emplace_back();
  facts.exposed_types[0].name = "a\nb" + std::string(200, 'n');
  facts.exposed_types[0].dur_ns = INT64_MAX / 2;
  facts.totals = {1'000'000'000'000, 999'999'999'999, 999'999'999'998, SlowCollective{}};
  facts.totals.slow = {std::string(200, 'n'),  std::string(200, 'i'), 1.2345e8, 2e9, 7, 100,
                       FindingPlace{3, 10, 20}};
  for (std::int64_t r = 0; r < 20; ++r) {
    RankClock clock;
    clock.rank = clock.offset.rank = 1'000'000'000 + 2 * r;
    clock.offset.fit = ClockFit::kAlone;
    facts.clocks.push_back(clock);
  }
  facts.problems.resize(1);
  const std::vector<Finding> findings = collective_findings(facts);
  std::set<std::string> rules_seen, subjects;
  for (const Finding& f : findings) {
    EXPECT_LE(display_width(f.headline), kHeadlineWidth) << f.headline;
    EXPECT_EQ(f.headline.find('\n'), std::string::npos);
    EXPECT_FALSE(f.headline.empty());
    EXPECT_FALSE(f.evidence.empty()) << f.headline;
    EXPECT_TRUE(subjects.insert(std::string(f.rule) + f.subject_kind + f.subject).second)
        << f.headline;
    rules_seen.insert(std::string(f.rule));
  }
  for (const FindingRule& rule :
       {rules::slow_link, rules::slow_collective, rules::exposed_collective,
        rules::incomplete_collectives, rules::unaligned_clock, rules::collective_problems})
    EXPECT_EQ(rules_seen.count(std::string(rule.id)), 1U) << rule.id;
  for (const Finding& f : findings)
    EXPECT_EQ(f.place.has_value(), f.rule == rules::slow_collective.id) << f.headline;
}

TEST(CollectiveFindings, ASlowLinkHasAnIntervalAndACostPerStep) {
  SyncSummary row;
  row.total_latency_ms = 24;
  row.step_bus_gbps = {{1, 98}, {2, 100}, {3, 102}};
  const Finding link = slow_link_finding({&row, 100, 200, 7, std::log(1.25), 3}, "");
  EXPECT_EQ(link.value, 100);
  EXPECT_NEAR(*link.low, 80, 1e-9);
  EXPECT_NEAR(*link.high, 125, 1e-9);
  EXPECT_EQ(link.steps, 3U);
  EXPECT_EQ(link.cost_ms, 4); // half of the time, in three steps
  row.step_bus_gbps.resize(1);
  EXPECT_FALSE(slow_link_finding({&row, 100, 200, 7, 0.1, 0}, "").cost_ms);
}

TEST(CollectiveFindings, TracesAreAskedForOnlyWhereTracesAreMissing) {
  CollectiveFacts facts;
  facts.totals = {8, 2, 2, {}};
  EXPECT_EQ(collective_findings(facts).at(0).action,
            "Record the same steps on all ranks: no rank is missing, but some lack collectives");
  facts.totals.not_recorded = 1;
  EXPECT_EQ(collective_findings(facts).at(0).action, "Add the traces of the missing ranks");
}

/// Two ranks with one collective: durations of the members, and the hidden part of the longer one.
struct TwoRanks {
  TwoRanks(std::int64_t longer_ns, std::int64_t shorter_ns, std::int64_t hidden_ns) {
    const std::int64_t durations[] = {longer_ns, shorter_ns};
    ranks.resize(2);
    TimedCollective t;
    t.latency_ns = shorter_ns;
    for (std::size_t r = 0; r < 2; ++r) {
      ranks[r].rank = static_cast<std::int64_t>(r);
      ranks[r].rows.resize(1);
      ranks[r].rows[0].dur_ns = durations[r];
      t.match.members.emplace_back(r, 0);
    }
    ranks[0].rows[0].hidden_compute_ns = hidden_ns;
    facts.ranks = ranks;
    facts.collectives.push_back(std::move(t));
  }
  void expect_waits(std::int64_t least_ns, std::int64_t most_ns, std::int64_t job_ranks = 2) const {
    const ExposedWaits waits = exposed_waits(facts, job_ranks);
    EXPECT_EQ(waits.least_ns, least_ns);
    EXPECT_EQ(waits.most_ns, most_ns);
  }
  std::vector<RankCollectives> ranks;
  CollectiveFacts facts;
};

// A member waits for the excess over the shortest kernel; hidden time may or may not be waiting.
TEST(CollectiveFindings, OnlyExposedWaitsCount) {
  TwoRanks(100, 20, 0).expect_waits(80, 80);  // not hidden: exact
  TwoRanks(100, 20, 100).expect_waits(0, 0);  // hidden completely
  TwoRanks(100, 20, 30).expect_waits(50, 70); // 30 ns of the 80 may be hidden
  TwoRanks(100, 20, 90).expect_waits(0, 10);  // at most the exposed part
  const ExposedWaits waits = exposed_waits(TwoRanks(100, 20, 30).facts, 2);
  EXPECT_EQ(waits.exposed_ns, 90); // 70 and 20 of the two ranks
  EXPECT_NEAR(waits.least(), 50.0 / 90, 1e-12);
  EXPECT_EQ(ExposedWaits().least(), 0);
  EXPECT_EQ(ExposedWaits().most(), 1);
}

// Without a list of members, all ranks of the job are members: if some are missing, the last one to
// start may be one of them.
TEST(CollectiveFindings, ExposedWaitsNeedEveryMember) {
  TwoRanks run(100, 20, 0);
  run.expect_waits(80, 80, 0); // the number of ranks in the job is unknown
  run.expect_waits(0, 120, 128);
  EXPECT_FALSE(exposed_waits(run.facts, 128).all_ranks);
  run.facts.collectives[0].match.expected = 2; // a group of two
  run.expect_waits(80, 80, 128);
  run.facts.collectives[0].waits_known = false; // a member is missing, or a send
  run.expect_waits(0, 120);
  run.expect_waits(0, 0, 1); // a rank that is alone waits for no other
  run.facts.collectives[0].match.expected = 1;
  run.expect_waits(0, 0, 128);
}

// "Aligned roughly": the ends of the collectives scatter, so starts cannot be compared either.
TEST(CollectiveFindings, RoughClocksDoNotShowWaits) {
  TwoRanks run(100, 20, 0);
  ExposedType type;
  type.name = "alltoall";
  type.dur_ns = type.waits_known_ns = 120;
  type.wait_ns = 80;
  run.facts.exposed_types.push_back(type);
  RankClock clock;
  clock.offset.fit = ClockFit::kAligned;
  clock.offset.samples = 5;
  run.facts.clocks.push_back(clock);
  const auto says_waiting = [&] {
    for (const Finding& f : collective_findings(run.facts))
      if (f.rule == rules::exposed_collective.id)
        return f.evidence.find("waiting") != std::string::npos;
    ADD_FAILURE();
    return false;
  };
  EXPECT_TRUE(says_waiting());
  run.expect_waits(80, 80);
  run.facts.clocks[0].offset.residual_ns =
      21'294'000; // above 50 us and half of the starts' scatter
  run.facts.clocks[0].offset.effect_ns = 12'255'000;
  EXPECT_FALSE(says_waiting());
  run.expect_waits(0, 120);
}

} // namespace
} // namespace rankscope
