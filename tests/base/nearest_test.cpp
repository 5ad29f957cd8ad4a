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
  EXPECT_EQ(nearest("--rnak", std::vector<std::string>{"--json", "--rank-regex"}), "--rank-regex");
}

TEST(Nearest, TheEndOfASentence) {
  const std::vector<std::string> words{"report", "merge"};
  EXPECT_EQ(did_you_mean("reprot", words), "; did you mean report?");
  EXPECT_EQ(did_you_mean("frobnicate", words), "");
}

} // namespace
} // namespace rankscope
