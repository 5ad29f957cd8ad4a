#include "base/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace rankscope {
namespace {

struct Keyed {
  int key = 0;
  std::string place; ///< its place before sorting; long enough to be moved, not copied
  bool operator==(const Keyed&) const = default;
};

TEST(SortStably, EqualsTheStandardSortOnRandomValues) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Keyed> values(random() % 50);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = {static_cast<int>(random() % 8),
                   "at place " + std::to_string(i) + " of the list"};
    std::vector<Keyed> expected = values;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Keyed& a, const Keyed& b) { return a.key > b.key; });
    sort_stably(values, std::greater<>(), &Keyed::key);
    ASSERT_EQ(values, expected);
  }
}

template <class Id> void expect_sorted_ids() {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> keys(1 + random() % 50);
    for (int& key : keys)
      key = static_cast<int>(random() % 8);
    std::vector<Id> ids(random() % 80);
    for (Id& id : ids)
      id = static_cast<Id>(random() % keys.size());
    std::vector<Id> expected = ids;
    const auto before = [&keys](Id a, Id b) { return keys[a] < keys[b]; };
    std::stable_sort(expected.begin(), expected.end(), before);
    sort_stably(ids, before);
    ASSERT_EQ(ids, expected);
  }
}

TEST(SortStably, SortsIdsAndIndicesByWhatTheyStandFor) {
  expect_sorted_ids<std::uint32_t>();
  expect_sorted_ids<std::size_t>();
}

} // namespace
} // namespace rankscope
