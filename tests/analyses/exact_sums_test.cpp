// Tests that sums of times are exact: integer nanoseconds are added, and the sum is divided only
// for the cell.
#include "analyses/gemm/gemm_facts.h"
#include "analyses/nsys/nsys_summary.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ExactSums, OfGemmCalls) {
  // ten calls of 0.1 us: a sum of doubles in us would be 0.9999999999999999
  RankGemms rank;
  GemmGroup group;
  for (int i = 0; i < 10; ++i) {
    group.instances.push_back({i * 1000, 100});
    group.kernel_ns.push_back(100);
  }
  rank.gemm_ns = 1000;
  rank.groups.push_back(group);
  const GemmFacts facts = gemm_facts({rank}, 5, GemmRanking::kRange);
  ASSERT_EQ(facts.rows.size(), 1U);
  const GemmRow& row = facts.rows[0];
  EXPECT_EQ(row.calls_us.sum, 1.0);
  EXPECT_EQ(row.calls_us.std_sample, 0.0);
  EXPECT_EQ(row.total_excess_us, 0.0);
  EXPECT_EQ(row.gemm_share_percent, 100.0);
  EXPECT_EQ(row.kernel_us.sum, 1.0);
}

TEST(ExactSums, OfGemmCallsInAnyOrder) {
  const auto facts_of = [](std::vector<std::int64_t> ns) {
    RankGemms rank;
    GemmGroup group;
    for (const std::int64_t v : ns)
      group.instances.push_back({0, v});
    group.longest =
        static_cast<std::size_t>(std::distance(ns.begin(), std::max_element(ns.begin(), ns.end())));
    group.shortest =
        static_cast<std::size_t>(std::distance(ns.begin(), std::min_element(ns.begin(), ns.end())));
    rank.groups.push_back(group);
    return gemm_facts({rank}, 5, GemmRanking::kRange).rows.at(0);
  };
  const GemmRow a = facts_of({300, 100, 200, 700'000'000'001, 600});
  const GemmRow b = facts_of({700'000'000'001, 600, 300, 200, 100});
  EXPECT_EQ(a.calls_us.sum, 700'000'001.201);
  EXPECT_EQ(a.calls_us.sum, b.calls_us.sum);
  EXPECT_EQ(a.calls_us.std_sample, b.calls_us.std_sample);
  EXPECT_EQ(a.total_excess_us, 700'000'000.701); // the sum minus five times the minimum of 100 ns
  EXPECT_EQ(a.total_excess_us, b.total_excess_us);
}

TEST(ExactSums, OfNsysClasses) {
  NsysData data;
  for (int i = 0; i < 10; ++i)
    data.kernels.push_back({"gemm" + std::to_string(i), 100'000, 1}); // 0.1 ms each
  const auto s = summarise_nsys(data, {"t", 1, 1, ""}, {{"gemm", "gemm"}});
  ASSERT_TRUE(s) << s.error().message();
  EXPECT_EQ(s->kernel_sum.total_ms, 1.0);
  EXPECT_EQ(s->kernel_sum.ms_per_iteration, 1.0);
}

} // namespace
} // namespace rankscope
