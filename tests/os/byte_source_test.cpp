#include "os/byte_source.h"

#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ByteSource, Lz4IsNamed) {
  const test::TempFolder folder;
  const auto source =
      ByteSource::open(folder.write("t.json.lz4", std::string("\x04\x22\x4d\x18\x64\x40\xa7", 7)));
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(source.error().message().find("LZ4"), std::string::npos);
  EXPECT_NE(source.error().hint.find("lz4 -d"), std::string::npos);
  EXPECT_TRUE(ByteSource::open(folder.write("t.json", std::string("\x04\x22\x4d\x19", 4))));
}

} // namespace
} // namespace rankscope
