// Tests lanes: the same result as trying lane after lane, and fast even if all slices overlap.
#include "cost.h"
#include "writers/lanes.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

/// Tries one lane after the other.
class SlowLanes {
public:
  std::size_t place(std::int64_t start, std::int64_t end, std::size_t from) {
    for (std::size_t lane = from;; ++lane) {
      if (lane >= open_.size())
        open_.resize(lane + 1);
      std::vector<std::int64_t>& stack = open_[lane];
      while (!stack.empty() && stack.back() <= start)
        stack.pop_back();
      if (stack.empty() || end <= stack.back()) {
        stack.push_back(end);
        return lane;
      }
    }
  }

private:
  std::vector<std::vector<std::int64_t>> open_;
};

struct Slice {
  std::int64_t start, end;
  std::size_t from;
};

/// Returns random slices by start, longer ones first; a few skip a lane.
std::vector<Slice> slices(unsigned seed, std::size_t n, std::int64_t longest) {
  std::mt19937 random(seed);
  std::vector<Slice> out;
  for (std::size_t i = 0; i < n; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 500);
    const auto dur = static_cast<std::int64_t>(random() % static_cast<unsigned>(longest));
    out.push_back({start, start + dur, random() % 8 == 0 ? random() % 4 : 0U});
  }
  std::sort(out.begin(), out.end(), [](const Slice& a, const Slice& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  return out;
}

TEST(Lanes, AreThoseOfTheSlowTwin) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Lanes lanes;
    SlowLanes slow;
    const std::vector<Slice> all = slices(seed, 300, seed % 3 == 0 ? 5 : seed % 3 == 1 ? 60 : 900);
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(lanes.place(all[i].start, all[i].end, all[i].from),
                slow.place(all[i].start, all[i].end, all[i].from))
          << "seed " << seed << ", slice " << i;
  }
}

TEST(Lanes, NestedSlicesShareOneAndCrossingOnesDoNot) {
  Lanes lanes;
  EXPECT_EQ(lanes.place(0, 100, 0), 0U);
  EXPECT_EQ(lanes.place(10, 50, 0), 0U);
  EXPECT_EQ(lanes.place(20, 60, 0), 1U);  // ends after the open slice
  EXPECT_EQ(lanes.place(55, 100, 0), 0U); // that slice has ended
  EXPECT_EQ(lanes.place(58, 60, 5), 5U);
}

TEST(Lanes, ManyThatOverlapCostLittleMore) {
  test::expect_near_linear(20'000, [](std::size_t n) {
    Lanes lanes;
    for (std::size_t i = 0; i < n; ++i) {
      const auto start = static_cast<std::int64_t>(i);
      ASSERT_EQ(lanes.place(start, start + static_cast<std::int64_t>(4 * n), 0), i);
    }
  });
}

} // namespace
} // namespace rankscope
