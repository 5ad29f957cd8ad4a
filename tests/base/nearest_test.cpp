#include "base/nearest.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Nearest, DistanceCountsSwapsOnce) {
  EXPECT_EQ(edit_distance("reprot", "report"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
}

TEST(Nearest, NothingFarAwayAndTheBeginningOfAWord) {
  const std::vector<std::string> words{"report", "collectives", "compare", "compare-reports"};
  EXPECT_EQ(nearest("reprot", words), "report");
  EXPECT_EQ(nearest("comapre", words), "compare");
  EXPECT_EQ(nearest("coll", words), "collectives");
  EXPECT_EQ(nearest("frobnicate", words), "");
  EXPECT_EQ(nearest("x", words), "");
}

} // namespace
} // namespace rankscope
