#include "core/json_parse.h"

#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

TEST(JsonParse, EmptyTextHasNoValue) {
  simdjson::dom::parser parser;
  EXPECT_EQ(parse_json(parser, {}).error(), simdjson::EMPTY); // no address, as for a NULL column
  EXPECT_EQ(parse_json(parser, "").error(), simdjson::EMPTY);
}

TEST(JsonParse, TextNeedsNoPadding) {
  const std::string text = R"({"a": [1, 2]}tail that is no JSON)";
  simdjson::dom::parser parser;
  std::int64_t second = 0;
  ASSERT_EQ(
      parse_json(parser, std::string_view(text).substr(0, 13))["a"].at(1).get_int64().get(second),
      simdjson::SUCCESS);
  EXPECT_EQ(second, 2);
  EXPECT_NE(parse_json(parser, text).error(), simdjson::SUCCESS);
  EXPECT_EQ(parse_json(parser, "7").error(), simdjson::SUCCESS); // the parser can be used again
}

} // namespace
} // namespace rankscope
