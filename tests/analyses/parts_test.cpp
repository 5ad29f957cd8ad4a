// Tests encoding and decoding of the parts that ranks contribute.
#include "analyses/collectives/collective_part.h"
#include "analyses/compare/compare_part.h"
#include "analyses/gemm/gemm_part.h"
#include "analyses/sweep/sweep_part.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

template <class Part> void expect_same_bytes(const Part& part) {
  const std::string bytes = encode_part("part", 1, part);
  const auto back = decode_part<Part>("part", 1, bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(encode_part("part", 1, *back), bytes);
}

TEST(Parts, ARankWithoutEventsComesBack) {
  LoadedTrace trace;
  trace.rank = 3;
  expect_same_bytes(extract_collectives(trace));
  expect_same_bytes(make_record(trace, {}));
  expect_same_bytes(gemm_facts({extract_gemms(trace, {})}, 5, GemmRanking::kRange));
  expect_same_bytes(ComparePart{trace.rank, rank_timeline(trace, {}), operator_times(trace, {}),
                                step_work_of(trace, {}), extract_collectives(trace)});
}

TEST(Parts, ATextBeyondThePoolIsAnError) {
  RankCollectives ranks;
  ranks.rows.emplace_back();
  ranks.rows[0].kernel = 5;
  const auto back =
      decode_part<RankCollectives>("collectives", kRankCollectivesVersion,
                                   encode_part("collectives", kRankCollectivesVersion, ranks));
  ASSERT_FALSE(back);
  EXPECT_NE(back.error().what.find("beyond its list"), std::string::npos);
}

} // namespace
} // namespace rankscope
