// Tests counters of Diagnostics: one line for all places or one line per place, with the most
// serious first.
#include "base/counters.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Diagnostics, OfACounterTheFirstPlaceStandsForAll) {
  Diagnostics out;
  out.add(counters::event_malformed(), "a.json: byte 7", 2);
  out.add(counters::record_malformed(), "b.json"); // the same key with another sentence
  const std::vector<Problem> problems = out.problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].name, "event_malformed");
  EXPECT_EQ(problems[0].where, "a.json: byte 7");
  EXPECT_EQ(problems[0].sentence, "an event is not a valid JSON object and was dropped");
  EXPECT_EQ(problems[0].count, 3U);
}

TEST(Diagnostics, PlacesThatAreNamedOneByOneHaveALineEach) {
  Diagnostics out;
  out.add(counters::missing_ranks("rank 1 has no trace"), "sweep/a");
  out.add(counters::missing_ranks("rank 1 has no trace"), "sweep/b");
  out.add(counters::missing_ranks("rank 2 has no trace"), "sweep/b");
  out.add(counters::missing_ranks("rank 2 has no trace"), "sweep/b");
  const std::vector<Problem> problems = out.problems();
  ASSERT_EQ(problems.size(), 3U);
  for (const Problem& p : problems)
    EXPECT_EQ(p.name, counters::missing_ranks.key);
  EXPECT_EQ(problems[2].count, 2U);
}

TEST(Diagnostics, MergedAreAsAddedTheWorstFirst) {
  Diagnostics first, other;
  first.add(counters::rank_disagrees(3, 4), "r3.json");
  other.add(counters::world_size(3, 8), "run");
  other.add(counters::rank_disagrees(3, 4), "r3.json");
  EXPECT_FALSE(first.data_lost());
  first.merge(other);
  EXPECT_TRUE(first.data_lost());
  const std::vector<Problem> problems = first.problems();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].sentence, "3 of 8 ranks found");
  EXPECT_EQ(problems[1].sentence,
            "is rank 3 by its distributedInfo but rank 4 by its name; the name is used");
  EXPECT_EQ(problems[1].count, 2U);
}

} // namespace
} // namespace rankscope
