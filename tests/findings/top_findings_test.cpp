// Tests the findings about one run, from handmade facts.
#include "findings/top_findings.h"

#include "base/display_text.h"
#include "findings/rules.h"

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

TEST(TopFindings, WhatToDoAboutCommunicationFollowsFromItsWaits) {
  const TopParts parts = parts_of({record_of(0, 0, 10), record_of(1, 0, 10)});
  CollectiveFacts collectives;
  collectives.summary.resize(1);
  collectives.summary[0].group_size = 2;
  collectives.summary[0].total_latency_ms = 2; // on each rank, of 10 ms
  const Finding waits = top_findings({}, parts, &collectives, nullptr).front();
  EXPECT_EQ(waits.evidence, "Mean over 2 ranks; 80 % of the communication time is waiting for the "
                            "last rank to start");
  EXPECT_NE(waits.action.find("Find why ranks are late"), std::string::npos) << waits.action;
  collectives.summary[0].total_latency_ms = 9;
  const Finding transfer = top_findings({}, parts, &collectives, nullptr).front();
  EXPECT_EQ(transfer.evidence, "Mean over 2 ranks; 90 % of the communication time is transfer");
  EXPECT_NE(transfer.action.find("Start collectives earlier"), std::string::npos)
      << transfer.action;
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
