// Tests which process groups are called slow, from handmade bandwidths.
#include "analyses/collectives/slow_links.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

constexpr std::int64_t kSteps = 8;

/// Returns all-reduces of pairs of ranks. `gbps`: mean bandwidth of each pair; the steps differ
/// from it by 1 % in turn. Without steps, only the means are known.
std::vector<SyncSummary> pairs(const std::vector<double>& gbps, std::int64_t steps = kSteps) {
  std::vector<SyncSummary> out;
  for (std::size_t g = 0; g < gbps.size(); ++g) {
    SyncSummary& row = out.emplace_back();
    row.name = "allreduce";
    row.dtype = "BFloat16";
    row.in_nelems = 1 << 24;
    row.full_mib = 32;
    row.group_size = 2;
    row.group = std::to_string(g);
    row.group_ranks = fmt::format("[{}, {}]", 2 * g, 2 * g + 1);
    row.count = 10;
    row.bus_gbps.mean = gbps[g];
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t turn = (step + static_cast<std::int64_t>(g)) % 3 - 1;
      row.step_bus_gbps.push_back({step, gbps[g] * (1 + 0.01 * static_cast<double>(turn))});
    }
  }
  return out;
}

std::vector<std::string> slow_in(const std::vector<SyncSummary>& rows) {
  std::vector<std::string> out;
  for (const SlowGroup& slow : slow_groups(rows))
    out.push_back(slow.row->group);
  return out;
}

using Names = std::vector<std::string>;
using Reason = UntestedLinks::Reason;

std::vector<Reason> untested_in(const std::vector<SyncSummary>& rows) {
  std::vector<Reason> out;
  for (const UntestedLinks& links : untested_links(rows))
    out.push_back(links.reason);
  return out;
}

// A run of 16 ranks in pairs has eight groups, which was one too few.
TEST(SlowLinks, ThreeGroupsAreEnough) {
  for (std::size_t groups = 3; groups <= 9; ++groups) {
    std::vector<double> gbps(groups, 213);
    EXPECT_EQ(slow_in(pairs(gbps)), Names{}) << groups;
    gbps[1] = 142;
    const std::vector<SyncSummary> rows = pairs(gbps);
    const std::vector<SlowGroup> slow = slow_groups(rows);
    ASSERT_EQ(slow.size(), 1U) << groups;
    EXPECT_EQ(slow[0].row, &rows[1]);
    EXPECT_EQ(slow[0].bus_gbps, 142);
    EXPECT_EQ(slow[0].usual_gbps, 213);
    EXPECT_EQ(slow[0].others, groups - 1);
    EXPECT_TRUE(untested_links(rows).empty()) << groups;
  }
}

// With 9 to 31 groups, or without steps, the test has one sample per group.
TEST(SlowLinks, OnlyATestOverStepsHasSteps) {
  const auto steps_of = [](std::size_t groups, std::int64_t steps) {
    std::vector<double> gbps(groups, 213);
    gbps[1] = 71;
    const std::vector<SyncSummary> rows = pairs(gbps, steps);
    const std::vector<SlowGroup> slow = slow_groups(rows);
    EXPECT_EQ(slow.size(), 1U) << groups;
    EXPECT_GT(slow.at(0).log_half_width, 0) << groups;
    EXPECT_LT(71 * std::exp(slow.at(0).log_half_width), 213) << groups;
    return slow.at(0).steps;
  };
  EXPECT_EQ(steps_of(4, 8), 8U);
  EXPECT_EQ(steps_of(12, 8), 0U);
  EXPECT_EQ(steps_of(40, 8), 8U);
  EXPECT_EQ(steps_of(40, 0), 0U);
}

TEST(SlowLinks, OfTwoGroupsNoneIsTheUsualOne) {
  const std::vector<SyncSummary> rows = pairs({213, 71});
  EXPECT_EQ(slow_in(rows), Names{});
  const std::vector<UntestedLinks> untested = untested_links(rows);
  ASSERT_EQ(untested.size(), 1U);
  EXPECT_EQ(untested[0].name, "allreduce");
  EXPECT_EQ(untested[0].group_size, 2);
  EXPECT_EQ(untested[0].reason, Reason::kFewGroups);
  EXPECT_TRUE(untested_links(pairs({213})).empty()); // nothing to compare with
}

// Parts of a step are not samples. Nine groups show their spread in a single step.
TEST(SlowLinks, FewGroupsNeedThreeSteps) {
  const std::vector<double> few = {213, 71, 213, 213},
                            many = {213, 71, 213, 213, 213, 213, 213, 213, 213};
  for (const std::int64_t steps : {0, 1, 2}) {
    EXPECT_EQ(slow_in(pairs(few, steps)), Names{}) << steps;
    EXPECT_EQ(untested_in(pairs(few, steps)), std::vector{Reason::kFewSteps}) << steps;
    EXPECT_EQ(slow_in(pairs(many, steps)), Names{"1"}) << steps;
    EXPECT_TRUE(untested_links(pairs(many, steps)).empty()) << steps;
  }
  EXPECT_EQ(slow_in(pairs(few, 3)), Names{"1"});
  // only steps that all groups have
  std::vector<SyncSummary> rows = pairs(few);
  rows[2].step_bus_gbps.resize(2);
  EXPECT_EQ(slow_in(rows), Names{});
  EXPECT_EQ(untested_in(rows), std::vector{Reason::kFewSteps});
}

TEST(SlowLinks, TheDifferenceMustBeLargerThanBetweenEqualLinks) {
  EXPECT_EQ(slow_in(pairs({213, 192, 213})), Names{}); // 10 %
  EXPECT_EQ(slow_in(pairs({213, 170, 213})), Names{"1"});
  // the others differ as much
  EXPECT_EQ(slow_in(pairs({213, 71, 150})), Names{});
  EXPECT_EQ(slow_in(pairs({213, 71, 150, 100})), Names{});
  // in two groups of four, either half may be the usual one
  EXPECT_EQ(slow_in(pairs({213, 71, 213, 71})), Names{});
  EXPECT_EQ(slow_in(pairs({213, 71, 213, 213, 71, 213, 213, 213})), (Names{"1", "4"}));
}

// The groups are as fast, but each step of one of them differs.
TEST(SlowLinks, NoiseOfStepsIsNoSlowLink) {
  std::vector<SyncSummary> rows = pairs({213, 160, 213});
  EXPECT_EQ(slow_in(rows), Names{"1"});
  for (StepMean& step : rows[1].step_bus_gbps)
    step.mean *= step.step % 2 == 0 ? 0.6 : 1.4;
  EXPECT_EQ(slow_in(rows), Names{});
}

// The duration of a small collective is mostly latency.
TEST(SlowLinks, SmallCollectivesOfFewGroupsAreLeftOut) {
  std::vector<SyncSummary> rows = pairs({213, 71, 213});
  for (SyncSummary& row : rows)
    row.full_mib = 0.5;
  EXPECT_EQ(slow_in(rows), Names{});
  EXPECT_TRUE(untested_links(rows).empty());
}

TEST(SlowLinks, OnlyGroupsWithoutAnyTestAreUntested) {
  std::vector<SyncSummary> rows = pairs({213, 213, 213});
  for (const SyncSummary& row : pairs({190, 191})) { // of another size, of the same groups
    rows.push_back(row);
    rows.back().in_nelems = 1 << 23;
  }
  EXPECT_TRUE(untested_links(rows).empty());
  for (SyncSummary row : pairs({80, 81})) {
    row.name = "_allgather_base";
    row.group_size = 3;
    row.group += " of columns";
    rows.push_back(row);
  }
  const std::vector<UntestedLinks> untested = untested_links(rows);
  ASSERT_EQ(untested.size(), 1U);
  EXPECT_EQ(untested[0].name, "_allgather_base");
  EXPECT_EQ(untested[0].group_size, 3);
}

} // namespace
} // namespace rankscope
