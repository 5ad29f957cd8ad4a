// Tests escaping, and which bytes may be copied into JSON unchanged; simdjson checks the results.
#include "base/json_text.h"

#include <gtest/gtest.h>
#include <simdjson.h>
#include <string>

namespace rankscope {
namespace {

TEST(JsonText, EscapedTextIsAlwaysAStringAndReadsBack) {
  simdjson::dom::parser parser;
  const auto read = [&](const std::string& text) {
    std::string_view out;
    EXPECT_EQ(parser.parse("\"" + json_escaped(text) + "\"").get(out), simdjson::SUCCESS);
    return std::string(out);
  };
  const std::string good =
      "plain \"q\" back\\slash \n\t\x01 \xc3\xb5 \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(read(good), good);
  for (const char* bad : {"\x80", "\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f"})
    EXPECT_NE(read(bad).find("\xef\xbf\xbd"), std::string::npos);
  for (int c = 0; c < 256; ++c) // every byte alone
    (void)read(std::string(1, static_cast<char>(c)));
}

TEST(JsonText, PlainListsAreJson) {
  for (const char* text :
       {"[]", "[1, 2]", "[[8944, 1024], [], [[1]]]", "[\"c10::BFloat16\", \"\", \"Scalar\"]",
        "[-1, 0.5, 1e5, 1E-05]", " [ 1 , 2 ] "}) {
    EXPECT_TRUE(is_plain_json_list(text)) << text;
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(std::string(text)).error(), simdjson::SUCCESS) << text;
  }
  for (
      const char* text :
      {"",      "1",          "\"x\"",  "[",         "]",          "[1,]",           "[,1]",
       "[1 2]", "[1]]",       "[1][2]", "[NaN]",     "[Infinity]", "[01]",           "[1.]",
       "[.5]",  "[1e]",       "[-]",    "[\"a\\\"]", "[\"a]",      "[1], {\"x\": 1", "[{\"a\": 1}]",
       "[1]x",  "[\"\x01\"]", "[[1]",   "[\"\xff\"]"})
    EXPECT_FALSE(is_plain_json_list(text)) << text;
}

} // namespace
} // namespace rankscope
