#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <limits>
#include <simdjson.h>

namespace rankscope {
namespace {

TEST(JsonWriter, WhatIsWrittenIsReadBack) {
  const std::string nasty = "a \"b\"\\\n\t\x01 \xc3\xa9 </script>";
  JsonWriter json;
  json.begin_object();
  json.text("text", nasty);
  json.integer("least", std::numeric_limits<std::int64_t>::min());
  json.number("half", 0.5);
  json.number("nothing", std::numeric_limits<double>::quiet_NaN());
  json.boolean("yes", true);
  json.null("none");
  json.texts("list", {"a", nasty});
  json.texts("empty", {});
  json.begin_object(nasty);
  json.end_object();
  json.begin_list("rows");
  json.integer("", 1);
  json.begin_object();
  json.text("x", "y");
  json.end_object();
  json.end_list();
  json.end_object();
  const std::string text = json.take();
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
  EXPECT_EQ(std::string_view(root["text"]), nasty);
  EXPECT_EQ(std::int64_t(root["least"]), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(double(root["half"]), 0.5);
  EXPECT_TRUE(root["nothing"].is_null());
  EXPECT_TRUE(bool(root["yes"]));
  EXPECT_EQ(std::string_view(root["list"].at(1)), nasty);
  EXPECT_EQ(simdjson::dom::array(root["empty"]).size(), 0U);
  EXPECT_TRUE(root[nasty].is_object());
  EXPECT_EQ(std::string_view(root["rows"].at(1)["x"]), "y");
}

} // namespace
} // namespace rankscope
