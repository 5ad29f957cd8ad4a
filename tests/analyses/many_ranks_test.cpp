// Tests with thousands of ranks: the time grows linearly with the number of ranks, and messages
// remain short.
#include "analyses/collectives/clock_alignment.h"
#include "analyses/collectives/like_groups.h"
#include "analyses/collectives/run_consistency.h"
#include "base/number_text.h"
#include "cost.h"
#include "sanitized.h"

#include <gtest/gtest.h>
#include <numeric>

namespace rankscope {
namespace {

/// Returns the ranks of a job with a group of all ranks, two groups of every second rank, and
/// groups of two.
std::vector<RankIdentity> world_of(std::size_t n) {
  std::vector<std::int64_t> all(n);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const RankSet everybody(all);
  RankSet half[2];
  for (std::int64_t first : {0, 1}) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t r = first; r < static_cast<std::int64_t>(n); r += 2)
      ranks.push_back(r);
    half[first] = RankSet(ranks);
  }
  std::vector<RankIdentity> out(n);
  for (std::size_t r = 0; r < n; ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    out[r].rank = rank;
    out[r].header_rank = rank;
    out[r].world_size = static_cast<std::int64_t>(n);
    out[r].groups = {{"0", everybody},
                     {r % 2 == 0 ? "1" : "2", half[r % 2]},
                     {std::to_string(3 + r / 2), RankSet({rank - rank % 2, rank - rank % 2 + 1})}};
    out[r].gpu_events = 10;
    out[r].content = r + 1;
    out[r].start_ns = 1'000'000'000'000 + rank;
    out[r].end_ns = out[r].start_ns + 1'000'000;
  }
  return out;
}

TEST(ManyRanks, TheCheckOfARunGrowsWithItsRanks) {
  test::expect_near_linear(1500, [](std::size_t n) {
    const std::vector<RankIdentity> ranks = world_of(n);
    ASSERT_TRUE(check_run(ranks, {}).empty());
  });
}

// Regression test: each group was compared with all groups of each of its members.
TEST(ManyRanks, TheCheckOfTwoRanksGrowsWithTheirGroups) {
  test::expect_near_linear(test::kSanitized ? 500 : 2000, [](std::size_t n) {
    std::vector<RankIdentity> ranks = world_of(2);
    for (RankIdentity& r : ranks)
      for (std::size_t g = 0; g < n; ++g)
        r.groups.push_back({"group " + std::to_string(g), RankSet({0, 1})});
    ASSERT_TRUE(check_run(ranks, {}).empty());
    ranks[1].groups.back() = {"group " + std::to_string(n - 1), RankSet({1})};
    ASSERT_EQ(check_run(ranks, {}).size(), 1U);
  });
}

TEST(ManyRanks, AContradictionAmongThousandsIsFound) {
  std::vector<RankIdentity> ranks = world_of(3000);
  ranks[7].groups[0] = {"0", RankSet({6, 7, 8})}; // this group has all ranks on every other rank
  const std::vector<RunProblem> problems = check_run(ranks, {});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].kind, RunProblem::Kind::kGroups);
  EXPECT_EQ(problems[0].ranks, std::vector<std::int64_t>{7});
}

TEST(ManyRanks, ClocksOfRanksInPairsAreAlignedInTheirNumber) {
  test::expect_near_linear(2000, [](std::size_t n) {
    std::vector<CollectiveEnds> ranks(n);
    for (std::size_t r = 0; r < n; ++r) {
      ranks[r].rank = static_cast<std::int64_t>(r);
      for (std::size_t k = 0; k < 10; ++k) {
        const auto at = static_cast<std::int64_t>(1000 * k);
        ranks[r].ends.push_back(
            {10 * (r / 2) + k, at, at + 100 + static_cast<std::int64_t>(r % 2) * 7});
      }
    }
    const std::vector<ClockOffset> clocks = align_clocks(ranks);
    ASSERT_EQ(clocks[1].line.offset_ns, 7);
    ASSERT_EQ(clocks[2].fit, ClockFit::kAlone);
  });
}

TEST(ManyRanks, ThousandsOfLikeGroupsAreARow) {
  std::vector<SyncSummary> rows;
  for (int g = 0; g < 5000; ++g) {
    SyncSummary row;
    row.name = "all_reduce";
    row.dtype = "Float";
    row.group = std::to_string(g);
    row.in_nelems = 64;
    row.group_size = 2;
    row.count = g == 0 ? 3 : 1;
    row.latency_us.mean = g == 0 ? 50 : 10;
    row.latency_us.count = row.count;
    row.total_latency_ms = row.latency_us.mean * static_cast<double>(row.count) / 1e3;
    rows.push_back(row);
  }
  rows.push_back(rows.front());
  rows.back().name = "all_gather";
  const std::vector<SyncSummary> joined = over_like_groups(rows);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].group, "5000 groups");
  EXPECT_EQ(joined[0].count, 5002U);
  // by number of collectives
  EXPECT_NEAR(joined[0].latency_us.mean, (3 * 50 + 4999 * 10) / 5002.0, 1e-9);
  EXPECT_NEAR(joined[0].total_latency_ms, (150 + 49990) / 1e3, 1e-6);
  EXPECT_EQ(joined[1].group, "0"); // the only group of its size: it has its own name
}

TEST(ManyRanks, SpreadsNameTheQuartilesAndTheMost) {
  CollectiveFacts facts;
  for (std::int64_t r = 0; r < 5; ++r)
    facts.exposed_ranks.push_back({r, 1'000'000 * (r + 1), 500'000, 0, 0});
  const std::vector<std::string> lines = rank_spreads(facts);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "communication (ms) of 5 ranks: 1.000 to 5.000, quartiles 2.000 3.000 4.000; "
                      "most on rank 4");
}

TEST(ManyRanks, ListsOfRanksAreRanges) {
  std::vector<std::int64_t> most(4095);
  std::iota(most.begin(), most.end(), std::int64_t{1});
  EXPECT_EQ(ranges_text(most), "1-4095");
  EXPECT_EQ(ranges_text(std::vector<std::int64_t>{0, 1, 3, 4, 5, 9}), "0, 1, 3-5, 9");
  EXPECT_EQ(ranges_text(std::vector<std::int64_t>{1, 3, 5, 7}, 2), "1, 3, ...");
  EXPECT_EQ(ranges_text(std::vector<std::int64_t>{1, 3}, 2), "1, 3");
  EXPECT_EQ(ranges_text(std::vector<std::int64_t>{}), "");
  EXPECT_EQ(ranges_text(std::vector<std::int64_t>{INT64_MAX - 1, INT64_MAX}, 2),
            "9223372036854775806, 9223372036854775807");
}

} // namespace
} // namespace rankscope
