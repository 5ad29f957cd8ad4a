// Tests that lists as Python prints them become JSON, and that other texts are unchanged.
#include "core/nested_text.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

TEST(NestedText, ListsTuplesAndDictsAreJson) {
  for (const auto& [text, want] : std::vector<std::pair<std::string, std::string>>{
           {"((8944, 1024), ())", "[[8944,1024],[]]"},
           {"(4,)", "[4]"},
           {"[[2, 3], []]", "[[2,3],[]]"},
           {"('c10::BFloat16', 'Scalar', '')", R"(["c10::BFloat16","Scalar",""])"},
           {"(True, False, None, -1.5e-05, nan)", "[true,false,null,-1.5e-05,null]"},
           {"[{'name': 'k<1>', 'mean': 1.5, 'x': [1]}]", R"([{"name":"k<1>","mean":1.5,"x":[1]}])"},
           {R"(["a'b", 'c"d', 'e\'f', '\n\x41'])", R"(["a'b","c\"d","e'f","\u000aA"])"},
           {"None", "null"}})
    EXPECT_EQ(nested_json(text), want) << text;
}

TEST(NestedText, OtherTextsAreNone) {
  for (const char* text :
       {"", "a name", "4", "'a'", "(1, 2", "[1] x", "[1 2]", "(01,)", "[,]", "[a]", "{'a'}",
        "{1: 2}", "['a", "[\"\\q\"]", "[1.]", "[1e]", "[--1]", "(<object at 0x1>,)"})
    EXPECT_EQ(nested_json(text), std::nullopt) << text;
  EXPECT_EQ(nested_json(std::string(100'000, '[')), std::nullopt);
  EXPECT_NE(nested_json(std::string(60, '[') + std::string(60, ']')), std::nullopt);
}

TEST(NestedText, EveryCutOfAListIsValidJsonOrNone) {
  const std::string text = R"(((1, -2.5), ['a\'b', "c"], {'k': (True, None)}, '\xff)"
                           "\xff\xfe')";
  simdjson::dom::parser parser;
  for (std::size_t n = 0; n <= text.size(); ++n)
    if (const auto json = nested_json(text.substr(0, n))) {
      EXPECT_EQ(parser.parse(*json).error(), simdjson::SUCCESS) << *json;
    }
  const auto complete = nested_json(text);
  ASSERT_TRUE(complete);
  EXPECT_EQ(parser.parse(*complete).error(), simdjson::SUCCESS) << *complete;
}

} // namespace
} // namespace rankscope
