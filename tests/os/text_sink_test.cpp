#include "os/text_sink.h"

#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::bytes_of;
using test::TempFolder;

TEST(TextSink, MicrosecondsHaveThreeDecimals) {
  TempFolder folder;
  Result<TextSink> sink = TextSink::create(folder.path() + "/t", false);
  ASSERT_TRUE(sink);
  for (const std::int64_t ns : {0LL, 7LL, 1050LL, -1001LL, 3743411223000001LL}) {
    sink->microseconds(ns);
    sink->character(' ');
  }
  sink->text(std::string(600000, 'x')); // larger than the buffer
  ASSERT_TRUE(sink->commit());
  const std::string text = bytes_of(folder.path() + "/t");
  EXPECT_EQ(text.substr(0, 42), "0.000 0.007 1.050 -1.001 3743411223000.001");
  EXPECT_EQ(text.size(), 43U + 600000U);
}

} // namespace
} // namespace rankscope
