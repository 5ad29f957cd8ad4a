#include "base/interval_set.h"
#include "base/string_pool.h"

#include <gtest/gtest.h>

namespace rankscope {

TEST(IntervalSet, MergesTouchingAndSubtracts) {
  const IntervalSet a({{0, 10}, {10, 20}, {30, 40}});
  EXPECT_EQ(a.intervals().size(), 2U);
  EXPECT_EQ(a.length(), 30);
  const IntervalSet b({{5, 35}});
  EXPECT_EQ(a.minus(b).length(), 10);     // [0,5) and [35,40)
  EXPECT_EQ(a.intersect(b).length(), 20); // [5,20) and [30,35)
  EXPECT_EQ(a.covered(15, 32), 7);        // [15,20) and [30,32)
}

TEST(StringPool, SameTextSameId) {
  StringPool pool;
  std::vector<StrId> ids;
  for (int i = 0; i < 10000; ++i)
    ids.push_back(pool.intern("name" + std::to_string(i)));
  for (int i = 0; i < 10000; ++i) {
    EXPECT_EQ(pool.intern("name" + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    EXPECT_EQ(pool.view(ids[static_cast<std::size_t>(i)]), "name" + std::to_string(i));
  }
  EXPECT_EQ(pool.find("absent"), StringPool::kNotFound);
}

TEST(StringPool, LittleTextTakesLittleMemory) {
  StringPool few;
  (void)few.intern("total_time");
  EXPECT_LT(few.bytes(), 4096U); // a sweep of thousands of ranks stores a table per rank
  StringPool many;
  std::size_t text = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string s = "a kernel name of the usual length " + std::to_string(i);
    text += s.size();
    (void)many.intern(s);
  }
  EXPECT_LT(many.bytes(), 3 * text);
  EXPECT_EQ(many.view(many.find("a kernel name of the usual length 7")).size(), 35U);
}

} // namespace rankscope
