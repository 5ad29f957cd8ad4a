// Tests RS_ASSERT, which is active in every build: its message, and that a violated precondition
// ends the process.
#include "base/invariant.h"
#include "base/json_writer.h"
#include "base/statistics.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string said_by(void (*broken)()) {
  try {
    broken();
  } catch (const std::logic_error& e) {
    return e.what();
  }
  return "";
}

TEST(Invariant, SaysWhereAndWhat) {
  EXPECT_EQ(said_by([] { RS_ASSERT(1 + 1 == 2); }), "");
  const std::string text = said_by([] { RS_ASSERT(1 + 1 == 3 && "sums"); });
  EXPECT_EQ(text.rfind("invariant_test.cpp:", 0), 0U) << text;
  EXPECT_NE(text.find(R"(: 1 + 1 == 3 && "sums")"), std::string::npos) << text;
}

TEST(Invariant, EndsWhatWouldGoOnWithNonsense) {
  EXPECT_THROW((void)quantile({}, 0.5), std::logic_error);
  JsonWriter json;
  json.begin_object();
  EXPECT_THROW((void)json.take(), std::logic_error);
  json.end_object();
  EXPECT_THROW(json.end_object(), std::logic_error);
}

} // namespace
} // namespace rankscope
