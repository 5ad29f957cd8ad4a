// Tests bandwidth by rank with handmade runs: two pairs of ranks, one of them with a slower link.
#include "analyses/collectives/rank_bandwidth.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns four ranks. Each step has three all-reduces in each pair (0 and 1, 2 and 3) and one of
/// all ranks. Those of the pair 2 and 3 take `slower_ns` longer.
std::vector<RankCollectives> pairs(std::int64_t steps, std::int64_t slower_ns) {
  std::vector<RankCollectives> out(4);
  for (std::size_t r = 0; r < out.size(); ++r) {
    RankCollectives& rank = out[r];
    rank.rank = static_cast<std::int64_t>(r);
    const auto add = [&](const char* pg, const char* list, std::int64_t size, std::int64_t nelems,
                         std::int64_t seq, std::int64_t step, std::int64_t at, std::int64_t dur) {
      Collective c;
      c.pg_name = rank.texts.intern(pg);
      c.pg_ranks = rank.texts.intern(list);
      c.name = rank.texts.intern("allreduce");
      c.kind = CollectiveKind::kAllReduce;
      c.dtype = rank.texts.intern("Float");
      c.in_nelems = c.out_nelems = nelems;
      c.group_size = size;
      c.seq = seq;
      c.step = step;
      c.ts_ns = at;
      c.dur_ns = dur;
      rank.rows.push_back(c);
    };
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t at = step * 10'000'000;
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t jitter = (step * 7 + i * 3 + static_cast<std::int64_t>(r / 2)) % 5 * 100;
        add(r < 2 ? "a" : "b", r < 2 ? "[0, 1]" : "[2, 3]", 2, 1 << 20, 3 * step + i, step,
            at + i * 1'000'000, 100'000 + jitter + (r < 2 ? 0 : slower_ns));
      }
      add("all", "[0, 1, 2, 3]", 4, 1 << 20, step, step, at + 5'000'000, 200'000);
    }
  }
  return out;
}

TEST(RankBandwidth, ASlowLinkIsThatOfItsRanks) {
  const std::vector<RankCollectives> ranks = pairs(6, 25'000);
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts) << facts.error().message();
  const std::vector<BandwidthClass> classes = bandwidth_by_rank(*facts);
  ASSERT_EQ(classes.size(), 1U); // not those of all ranks
  const BandwidthClass& row_class = classes.front();
  EXPECT_EQ(row_class.name, "allreduce");
  EXPECT_EQ(row_class.group_size, 2);
  EXPECT_EQ(row_class.collectives, 36U);
  EXPECT_DOUBLE_EQ(row_class.full_mib, 4);
  ASSERT_EQ(row_class.ranks.size(), 4U);
  for (const RankBandwidth& row : row_class.ranks) {
    EXPECT_EQ(row.collectives, 18U);
    EXPECT_EQ(row.by_step.n, 6U);
    EXPECT_TRUE(row.significant()) << row.rank;
    EXPECT_EQ(row.difference->difference < 0, row.rank >= 2) << row.rank;
    // 4 MiB in 100 us plus jitter, factor 2 (n - 1) / n = 1: 41.7 GB/s; in 125 us: 33.4 GB/s
    EXPECT_NEAR(row.bus_gbps, row.rank < 2 ? 41.86 : 33.5, 0.4) << row.rank;
    EXPECT_NEAR(row.others_bus_gbps, row.rank < 2 ? 33.5 : 41.86, 0.4) << row.rank;
  }
}

TEST(RankBandwidth, WhatIsAlikeIsNotTold) {
  const std::vector<RankCollectives> ranks = pairs(6, 0);
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  for (const BandwidthClass& row_class : bandwidth_by_rank(*facts))
    for (const RankBandwidth& row : row_class.ranks)
      EXPECT_FALSE(row.significant()) << row.rank;
}

TEST(RankBandwidth, OneStepTellsNothing) {
  const std::vector<RankCollectives> ranks = pairs(1, 50'000);
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  const std::vector<BandwidthClass> classes = bandwidth_by_rank(*facts);
  ASSERT_EQ(classes.size(), 1U);
  for (const RankBandwidth& row : classes.front().ranks) {
    EXPECT_FALSE(row.difference);
    EXPECT_FALSE(row.significant());
  }
}

} // namespace
} // namespace rankscope
