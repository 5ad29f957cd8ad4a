// Rank analyses: their list, and what they extract through its encoding.
#include "analyses/collectives/collective_part.h"
#include "analyses/rank_analysis.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(RankAnalyses, EachKeepsItsPartsThroughTheirEncoding) {
  ASSERT_FALSE(rank_analyses().empty());
  for (const RankAnalysis* analysis : rank_analyses()) {
    EXPECT_EQ(find_rank_analysis(analysis->name), analysis);
    LoadedTrace trace;
    trace.rank = 3;
    const auto part = analysis->extract(trace, {});
    ASSERT_TRUE(part) << analysis->name;
    const std::string bytes = analysis->encode(*analysis, *part);
    const auto back = analysis->decode(*analysis, bytes);
    ASSERT_TRUE(back) << analysis->name << ": " << back.error().message();
    EXPECT_EQ(analysis->encode(*analysis, *back), bytes) << analysis->name;
  }
  EXPECT_EQ(find_rank_analysis("no such"), nullptr);
}

TEST(RankAnalyses, ATextBeyondThePoolIsAnError) {
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
