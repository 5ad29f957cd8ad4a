#include "base/percent_encoding.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(PercentEncoding, WritesTheOthersAsTheirBytes) {
  EXPECT_EQ(percent_encoded("a-b_c.9", is_plain_in_names), "a-b_c.9");
  EXPECT_EQ(percent_encoded("a/b=\xC3\xA9\n%", is_plain_in_names), "a%2Fb%3D%C3%A9%0A%25");
  EXPECT_EQ(percent_encoded("?x", [](char c) { return c != 'x'; }), "?%78");
  EXPECT_EQ(percent_encoded("", is_plain_in_names), "");
}

} // namespace
} // namespace rankscope
