#include "core/table.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Table, CopiesAreIndependent) {
  Table a("t", {{"x"}, {"y"}});
  a.add_row({1, "one"});
  Table b = a;
  b.add_row({2, "two"});
  a.add_row({3, "three"});
  EXPECT_EQ(a.at(1, 1).text, "three");
  EXPECT_EQ(b.at(1, "y").text, "two");
  EXPECT_EQ(b.at(0, "y").text, "one");
}

} // namespace
} // namespace rankscope
