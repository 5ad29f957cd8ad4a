// Tests the findings about one run, from handmade facts.
#include "findings/top_findings.h"

#include "base/display_text.h"
#include "findings/cause_findings.h"
#include "findings/rules.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns a rank that is idle for `idle_ms` of 100 ms and has exposed communication for
/// `exposed_ms`.
RankRecord record_of(std::int64_t rank, double idle_ms, double exposed_ms) {
  RankRecord r;
  r.key.rank = rank;
  const auto set = [&r](TimeKind kind, double ms) {
    r.time_ns[static_cast<std::size_t>(kind)] = static_cast<std::int64_t>(ms * 1e6);
  };
  set(TimeKind::kTotal, 100);
  set(TimeKind::kIdle, idle_ms);
  set(TimeKind::kExposedComm, exposed_ms);
  set(TimeKind::kTotalComm, exposed_ms);
  set(TimeKind::kComputation, 100 - idle_ms - exposed_ms);
  r.idle_ns[static_cast<std::size_t>(IdleCause::kHost)] =
      static_cast<std::int64_t>(idle_ms * 0.75e6);
  r.idle_ns[static_cast<std::size_t>(IdleCause::kLaunch)] =
      static_cast<std::int64_t>(idle_ms * 0.25e6);
  return r;
}

TopParts parts_of(std::vector<RankRecord> records) {
  TopParts out;
  out.ranks.resize(records.size());
  out.records = std::move(records);
  return out;
}

bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The starts of ranks on different clocks cannot be compared, so the waits are unknown.
TEST(TopFindings, WaitsNeedOneClock) {
  CollectiveFacts facts;
  ExposedType type;
  type.dur_ns = type.waits_known_ns = 50'000'000;
  type.wait_ns = 11'243'000;
  facts.exposed_types = {type};
  const TopParts parts = parts_of({record_of(0, 5, 50), record_of(1, 5, 50)});
  EXPECT_EQ(top_facts(parts, &facts, {}, {}).communication.at(0).wait_ms, 11.243);
  facts.clocks.resize(2); // not aligned
  EXPECT_TRUE(std::isnan(top_facts(parts, &facts, {}, {}).communication.at(0).wait_ms));
}

std::vector<Finding> found(const TopParts& parts, const TopFacts& facts = {}) {
  return top_findings(facts, parts, nullptr, nullptr);
}

TEST(TopFindings, TimesBelowFivePercentAreNotNamed) {
  EXPECT_TRUE(found(parts_of({record_of(0, 4.9, 4.9)})).empty());
  const std::vector<Finding> findings = found(parts_of({record_of(0, 20, 10)}));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].rule, rules::exposed_communication.id);
  EXPECT_EQ(findings[0].headline, "Communication is exposed for 10.0 ms, 10.0 % of the time");
  EXPECT_EQ(findings[0].evidence,
            "One rank; it is unknown how much of this time is waiting for late ranks");
  EXPECT_EQ(findings[0].action, "Compare all ranks: rankscope collectives");
  EXPECT_EQ(findings[1].rule, rules::idle_gpu.id);
  EXPECT_EQ(findings[1].headline, "The GPU is idle for 20.0 ms, 20.0 % of the time");
  EXPECT_EQ(findings[1].evidence,
            "One rank; 75.0 % of the idle time is host (the next work was not launched yet)");
  EXPECT_EQ(findings[1].action, "Shorten the CPU's work between launches (graphs, compilation, "
                                "fewer small kernels)");
  EXPECT_EQ(*findings[1].value, 20);
  EXPECT_EQ(findings[1].unit, Unit::kMs);
  EXPECT_EQ(findings[1].scope, FindingScope::kTheseSteps);
}

// The time from one kernel to the next was said to be a wait for events or other streams.
TEST(TopFindings, ShortGapsBetweenQueuedKernelsAreUsual) {
  constexpr auto kQueued = static_cast<std::size_t>(IdleCause::kQueued);
  RankRecord record = record_of(0, 20, 0);
  record.idle_ns = {};
  record.idle_ns[kQueued] = 20'000'000;
  record.idle_gaps[kQueued] = 10'000;
  record.longest_idle[kQueued] = {0, 3'000};
  const Finding usual = found(parts_of({record})).at(0);
  EXPECT_EQ(usual.evidence, "One rank; 100.0 % of the idle time is queued (launched, but not "
                            "started yet); a gap takes 2.00 \u00b5s on average, which is usual "
                            "between kernels");
  EXPECT_EQ(usual.action, "Run fewer, larger kernels (fusion, compilation)");
  const auto waits = [&record] {
    return has_text(found(parts_of({record})).at(0).action, "Find what the launched work waits");
  };
  record.longest_idle[kQueued] = {0, 15'000'000}; // one gap is most of the idle time
  EXPECT_TRUE(waits());
  record.longest_idle[kQueued] = {0, 80'000};
  record.idle_gaps[kQueued] = 1'000; // 20 us each
  EXPECT_TRUE(waits());
}

/// Two ranks whose only collective lasts 10 ms on one and `shortest_ms` on the other. `hidden_ms`
/// of the longer one is hidden. Returns the finding about exposed communication.
Finding exposed_of(double shortest_ms, double hidden_ms, const TopCauses* causes = nullptr,
                   std::int64_t world_size = 2) {
  TopParts parts = parts_of({record_of(0, 0, 10), record_of(1, 0, 10)});
  parts.identities.resize(2);
  parts.identities[0].world_size = world_size;
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  std::vector<RankCollectives> ranks(2);
  TimedCollective t;
  t.latency_ns = ns(shortest_ms);
  for (std::size_t r = 0; r < 2; ++r) {
    ranks[r].rows.resize(1);
    ranks[r].rows[0].dur_ns = r == 0 ? ns(10) : ns(shortest_ms);
    t.match.members.emplace_back(r, 0);
  }
  ranks[0].rows[0].hidden_compute_ns = ns(hidden_ms);
  CollectiveFacts collectives;
  collectives.ranks = ranks;
  collectives.collectives.push_back(std::move(t));
  for (const Finding& f : top_findings({}, parts, &collectives, causes))
    if (f.rule == rules::exposed_communication.id)
      return f;
  ADD_FAILURE();
  return {};
}

TEST(TopFindings, WhatToDoAboutCommunicationFollowsFromItsWaits) {
  const Finding waits = exposed_of(2, 0); // 8 ms of 12 ms
  EXPECT_EQ(waits.evidence,
            "Mean over 2 ranks; 67 % of this time is waiting for the last rank to start");
  EXPECT_TRUE(has_text(waits.action, "Find why ranks are late")) << waits.action;
  const Finding transfer = exposed_of(9, 0);
  EXPECT_EQ(transfer.evidence, "Mean over 2 ranks; 95 % of this time is transfer");
  EXPECT_TRUE(has_text(transfer.action, "Start collectives earlier")) << transfer.action;
}

// If a kernel is partly hidden, the bounds may not say which part is larger.
TEST(TopFindings, TheSplitMayBeAnInterval) {
  const Finding waits = exposed_of(1, 1); // 8 to 9 ms of 10 ms
  EXPECT_EQ(waits.evidence,
            "Mean over 2 ranks; 80 to 90 % of this time is waiting for the last rank to start");
  EXPECT_TRUE(has_text(waits.action, "Find why ranks are late")) << waits.action;
  const Finding either = exposed_of(4, 4); // 2 to 6 ms of 10 ms
  EXPECT_TRUE(has_text(either.evidence, "; 20 to 60 % of this time is waiting")) << either.evidence;
  EXPECT_TRUE(has_text(either.action, "rankscope why")) << either.action;
}

TEST(TopFindings, WithMissingRanksTheSplitIsUnknown) {
  const Finding unknown = exposed_of(9, 0, nullptr, 128);
  EXPECT_EQ(unknown.evidence,
            "Mean over 2 ranks; it is unknown how much of this time is waiting for late ranks");
  EXPECT_TRUE(has_text(unknown.action, "Add the traces of the missing ranks")) << unknown.action;
}

TEST(TopFindings, TheJobGraphGivesTheExactSplit) {
  TopCauses causes;
  causes.exposed.wait_ms = 3;
  causes.exposed.transfer_ms = 1;
  EXPECT_TRUE(has_text(exposed_of(4, 4, &causes).evidence, "; 75 % of this time is waiting"));
}

/// Returns facts with this cause, on the host of rank 0.
CauseFacts facts_with(CauseRule rule) {
  CauseFacts out;
  out.step_ms = 10;
  out.steps = 3;
  out.ranks = 2;
  StepCause cause;
  cause.rule = rule;
  cause.ranks = {0};
  cause.gain_ms = cause.cost_ms = 1;
  out.causes.push_back(std::move(cause));
  return out;
}

// No kernel needs to follow the copy: the step ends with it.
TEST(TopFindings, TheStepWaitsForCopies) {
  CauseFacts facts = facts_with(CauseRule::kExposedCopy);
  facts.causes[0].what = "Memcpy DtoH (Device -> Pinned)";
  facts.causes[0].bytes = 2'000'000;
  EXPECT_EQ(cause_findings(facts).at(0).headline,
            "The step waits for copies to the host: 2.00 MB per step, 1.00 ms of a step");
  facts.causes[0].what = "Memcpy HtoD (Pinned -> Device)";
  facts.steps = 0;
  EXPECT_EQ(cause_findings(facts).at(0).headline,
            "The run waits for copies from the host: 2.00 MB, 1.00 ms");
}

// `top` advised to shorten the CPU's work, although every launch waits for its kernel.
TEST(TopFindings, TheActionRefersToAListedCause) {
  const TopCauses blocking = top_causes(facts_with(CauseRule::kBlockingLaunch));
  const TopParts idle = parts_of({record_of(0, 20, 0)});
  EXPECT_EQ(top_findings({}, idle, nullptr, &blocking).back().action,
            "First remove the cause listed above: blocking-launch");
  const TopCauses slow = top_causes(facts_with(CauseRule::kSlowGpu)); // does not explain idle time
  EXPECT_TRUE(has_text(top_findings({}, idle, nullptr, &slow).back().action, "Shorten the CPU's"));
  const TopCauses small = top_causes(facts_with(CauseRule::kSmallCollectives));
  EXPECT_EQ(exposed_of(9, 0, &small).action,
            "First remove the cause listed above: small-collectives");
  CauseFacts late = facts_with(CauseRule::kSlowGpu);
  late.exposed.wait_ms = 3;
  late.exposed.wait_for = {{0, 3.0}};
  const TopCauses late_rank = top_causes(late);
  EXPECT_TRUE(
      has_text(exposed_of(2, 0, &late_rank).action, "Remove the cause on rank 0 (slow-gpu)"));
}

// "No rank computes significantly longer" stood below a cause that named a slower rank.
TEST(TopFindings, ARankThatIsACauseIsNotCalledEqual) {
  std::vector<RankRecord> records;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    records.push_back(record_of(rank, 0, 0));
    for (std::int64_t step = 0; step < 4; ++step) {
      StepTimes& times = records.back().steps.emplace_back();
      times.step = step;
      times.ns[static_cast<std::size_t>(TimeKind::kComputation)] =
          10'000'000 + rank * step % 3 * 10'000;
    }
  }
  const TopParts parts = parts_of(std::move(records));
  const auto no_slow_rank = [&parts](CauseRule rule) {
    const TopCauses causes = top_causes(facts_with(rule));
    return std::ranges::count(top_findings({}, parts, nullptr, &causes),
                              std::string_view(rules::no_slow_rank.id), &Finding::rule);
  };
  EXPECT_EQ(no_slow_rank(CauseRule::kSlowHost), 1);
  EXPECT_EQ(no_slow_rank(CauseRule::kSlowGpu), 0);
}

// The specification forbids claims about contention from one step.
TEST(TopFindings, AStepThatTheCausesLeaveOutIsNamed) {
  CauseFacts facts = facts_with(CauseRule::kSlowGpu);
  facts.boundary.push_back({.step = 4, .number = 19, .rank = 3, .excess_ms = -113});
  facts.boundary.back().activities = 136;
  facts.boundary.back().other_activities = 400;
  const std::vector<Finding> listed = top_causes(facts).listed;
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].rule, rules::slow_gpu.id);
  EXPECT_EQ(listed[1].rule, rules::left_out_step.id);
  EXPECT_EQ(listed[1].sentence(),
            "Step 19 is left out of the causes. It has 136 GPU activities on rank 3, and the other "
            "complete steps have at least 400; the recording may end within it. Record complete "
            "steps only.");
}

TEST(TopFindings, OneStepDoesNotShowContention) {
  const auto contention = [](std::size_t steps) {
    TopParts parts = parts_of({record_of(0, 0, 0), record_of(1, 0, 0)});
    for (RankRecord& record : parts.records) {
      record.steps.resize(steps);
      CallGroup& group = record.calls.emplace_back();
      group.gemm = true;
      CallBlock block; // two calls without overlap of 100 us, two with full overlap of 120 us
      block.calls = 4;
      block.alone = 2;
      block.speed = 2. / 100 + 2. / 120;
      block.alone_us = 200;
      block.alone_speed = 2. / 100;
      block.share = block.share_share = 2;
      block.share_speed = 2. / 120;
      group.blocks.assign(std::min(steps, kCallBlocks), block);
    }
    return std::ranges::any_of(
        found(parts), [](const Finding& f) { return f.rule == rules::gemm_contention.id; });
  };
  EXPECT_TRUE(contention(2));
  EXPECT_FALSE(contention(1));
}

TEST(TopFindings, TheLargestHeadroomIsNamedAndFits) {
  TopFacts facts;
  facts.overview.gpu = std::string(80, 'G');
  for (const double lost : {100.0, 900.0, 500.0}) {
    TopOperator& o = facts.operators.emplace_back();
    o.sum.name = "op" + std::to_string(static_cast<int>(lost)) + std::string(200, 'n');
    o.sum.dims = "((4096, 4096), (4096, 14336))";
    o.sum.rated_ns = 1000;
    o.sum.roofline_ns = 1000 - lost;
    o.percent = 30;
    o.percent_of_roofline = (1000 - lost) / 10;
    o.bound = "compute";
  }
  const TopParts parts = parts_of({record_of(0, 0, 0)});
  const std::vector<Finding> findings = found(parts, facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, rules::low_roofline.id);
  EXPECT_EQ(findings[0].headline.rfind("op900n", 0), 0U) << findings[0].headline;
  EXPECT_NE(findings[0].headline.find(" runs at 10.0 % of the roofline of G"), std::string::npos)
      << findings[0].headline;
  EXPECT_LE(display_width(findings[0].headline), kHeadlineWidth);
  EXPECT_EQ(findings[0].subject, facts.operators[1].sum.name + " 4096x4096 4096x14336");
  facts.operators[1].percent = 4.9; // too small a share of the time for a finding
  EXPECT_TRUE(found(parts, facts).empty());
}

TEST(TopFindings, OfNoRankThereIsNone) {
  EXPECT_TRUE(found({}).empty());
}

} // namespace
} // namespace rankscope
