// Tests skipping of JSON values, and detection of damage.
#include "readers/kineto/json_scan.h"

#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

TEST(JsonScan, SkipsValuesAndFindsDamage) {
  const auto skipped = [](const std::string& text) {
    const char* const end = json::skip_value(text.data(), text.data() + text.size());
    return end == nullptr ? -1 : static_cast<int>(end - text.data());
  };
  for (const std::string& good :
       {std::string(R"({"a":[1,{"b":"c"}],"d":"]}"})"), std::string(R"(["a" , "b\"]" ,{} ])"),
        std::string(R"({"a" : "b" ,"c":[[],[{}]]})"), std::string("\"x,y\""),
        std::string(100, '[') + "\"a\"" + std::string(100, ']')})
    EXPECT_EQ(skipped(good + ","), static_cast<int>(good.size())) << good;
  for (const char* bad : {R"([2,40,"tid":7])", R"({"a":[1})", R"(["a" "b"])",
                          R"({"a":"b"c","d":1})", R"([{"a":1]})", R"({"a")", R"(["open])"})
    EXPECT_EQ(skipped(std::string(bad) + " "), -1) << bad;
  EXPECT_EQ(skipped(R"({"d":[[6,4,3],ge2","pid":1,"tid":1]})"), -1); // a missing quote
}

} // namespace
} // namespace rankscope
