// Tests RankSet by comparison with std::set, and the decoding of untrusted parts.
#include "core/rank_set.h"

#include "core/part.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace rankscope {
namespace {

TEST(RankSet, IsTheSetOfItsNumbers) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::int64_t> numbers;
    const std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 5);
    for (std::size_t i = 0; i < random() % 40; ++i)
      numbers.push_back(random() % 3 == 0 ? static_cast<std::int64_t>(random() % 60)
                                          : static_cast<std::int64_t>(i) * stride);
    const std::set<std::int64_t> ordered(numbers.begin(), numbers.end());
    const RankSet set(numbers);
    EXPECT_EQ(set.size(), ordered.size());
    EXPECT_EQ(set.ranks(), std::vector<std::int64_t>(ordered.begin(), ordered.end()));
    for (std::int64_t r = -2; r < 220; ++r)
      EXPECT_EQ(set.contains(r), ordered.count(r) > 0) << r;
    EXPECT_EQ(set, RankSet(std::vector<std::int64_t>(ordered.begin(), ordered.end())));
    EXPECT_EQ(set.ranks(3).size(), std::min<std::size_t>(3, ordered.size()));
  }
}

TEST(RankSet, GroupsOfTensOfThousandsAreSomeBytes) {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> one_per_node;
  for (std::int64_t r = 0; r < 65536; ++r) {
    all.push_back(r);
    if (r % 8 == 3)
      one_per_node.push_back(r);
  }
  const RankSet every_rank(all);
  const RankSet other(one_per_node);
  EXPECT_LT(encode_part("ranks", 1, every_rank).size(), 64U);
  EXPECT_LT(encode_part("ranks", 1, other).size(), 64U);
  const Result<RankSet> read = decode_part<RankSet>("ranks", 1, encode_part("ranks", 1, other));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, other);
}

TEST(RankSet, NumbersBelowZeroAndFarAwayAreNoTrouble) {
  const RankSet set({-5, INT64_MIN, INT64_MAX, 0, INT64_MAX - 1});
  EXPECT_EQ(set.ranks(), (std::vector<std::int64_t>{0, INT64_MAX - 1, INT64_MAX}));
  EXPECT_TRUE(set.contains(INT64_MAX));
  EXPECT_FALSE(set.contains(INT64_MIN));
}

struct Raw {
  std::vector<std::vector<std::int64_t>> runs;
};
template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, Raw>
void part_fields(Archive& archive, Row& r) {
  std::uint64_t n = r.runs.size();
  archive(n);
  for (auto& run : r.runs)
    archive(run[0], run[1], run[2]);
}

TEST(RankSet, APartThatIsNoSetIsRefused) {
  for (const std::vector<std::vector<std::int64_t>>& runs :
       {std::vector<std::vector<std::int64_t>>{{4, 2, 1}},
        {{0, 5, 0}},
        {{0, 5, 2}},
        {{-3, 5, 1}},
        {{0, 5, 1}, {5, 9, 1}},
        {{0, 5, -1}}}) {
    const std::string bytes = encode_part("ranks", 1, Raw{runs});
    EXPECT_FALSE(decode_part<RankSet>("ranks", 1, bytes)) << runs[0][0];
  }
  EXPECT_TRUE(
      decode_part<RankSet>("ranks", 1, encode_part("ranks", 1, Raw{{{0, 6, 2}, {7, 7, 1}}})));
}

} // namespace
} // namespace rankscope
