// Tests configuration values: what is accepted, how values are merged, and what is written.
#include "collect/profile/json_value.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

Json parsed(const std::string& text, std::vector<std::string>* notes = nullptr) {
  const Result<Json> out = parse_json(text, "test", notes);
  EXPECT_TRUE(out) << text << ": " << (out ? "" : out.error().message());
  return out ? *out : Json();
}

TEST(JsonValue, JsonIsTakenWithoutARemark) {
  std::vector<std::string> notes;
  const Json v = parsed(R"({"a": [1, -2.5, true, null, "x\ny"], "b": {}})", &notes);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(v.find("a")->items.size(), 5U);
  EXPECT_EQ(v.find("a")->items[4].text, "x\ny");
  EXPECT_EQ(parsed(v.dump()).dump(), v.dump());
}

TEST(JsonValue, PythonLiteralsAndCommentsAreTakenWithARemark) {
  for (const char* text : {
           R"({'a': True, 'b': None, 'c': 'it"s', 'd': (1, 2)})",
           "{\"a\": true, // less\n \"b\": null, \"c\": \"it\\\"s\", \"d\": [1, 2]}",
           "{\"a\": true, \"b\": null, /* x */ \"c\": \"it\\\"s\", \"d\": [1, 2,],}",
           "{'a': True, 'b': None, # why\n 'c': 'it\"s', 'd': [1, 2]}",
       }) {
    std::vector<std::string> notes;
    const Json v = parsed(text, &notes);
    EXPECT_EQ(notes.size(), 1U) << text;
    EXPECT_TRUE(v.find("a")->flag);
    EXPECT_TRUE(v.find("b")->is(Json::Kind::kNull));
    EXPECT_EQ(v.find("c")->text, "it\"s");
    EXPECT_EQ(v.find("d")->items.size(), 2U);
  }
}

TEST(JsonValue, CommentSignsInTextsAreText) {
  const Json v = parsed(R"({'url': 'http://x/#y', 'w': 'a /* b */'})");
  EXPECT_EQ(v.find("url")->text, "http://x/#y");
  EXPECT_EQ(v.find("w")->text, "a /* b */");
}

TEST(JsonValue, WhatIsNeitherIsAnError) {
  for (const char* text : {"", "{", "{'a': }", "{\"a\": nope}", "'open", "[1,,2]"})
    EXPECT_FALSE(parse_json(text, "test", nullptr)) << text;
  std::string deep(100000, '[');
  EXPECT_FALSE(parse_json(deep, "test", nullptr));
}

TEST(JsonValue, ObjectsMergeDeeplyListsReplaceAndPlusAppends) {
  Json base = parsed(R"({"env": {"A": "1", "B": "2"}, "tools": [1, 2], "x": 1})");
  merge_json(base, parsed(R"({"env": {"B": "3", "C": "4"}, "tools": [5]})"));
  EXPECT_EQ(base.find("env")->find("A")->text, "1");
  EXPECT_EQ(base.find("env")->find("B")->text, "3");
  EXPECT_EQ(base.find("env")->find("C")->text, "4");
  EXPECT_EQ(base.find("tools")->items.size(), 1U);
  merge_json(base, parsed(R"({"tools+": [6, 7], "new": {"l+": [1]}})"));
  EXPECT_EQ(base.find("tools")->items.size(), 3U);
  EXPECT_EQ(base.find("new")->find("l")->items.size(), 1U);
  EXPECT_EQ(base.find("tools+"), nullptr);
}

} // namespace
} // namespace rankscope
