#include "os/input_text.h"

#include "os/whole_file.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope::test {
namespace {

TEST(InputText, IsTheWholeFileAlsoAnEmptyOne) {
  const TempFolder folder;
  std::string longer_than_a_block(200'000, 'x');
  longer_than_a_block += std::string("\0\r\n", 3);
  EXPECT_EQ(text_of_input(folder.write("long", longer_than_a_block)), longer_than_a_block);
  EXPECT_EQ(text_of_input(folder.write("empty", "")), "");
}

TEST(InputText, AFolderAndWhatIsNotThereAreNone) {
  const TempFolder folder;
  EXPECT_EQ(text_of_input(folder.path("absent")), std::nullopt);
  EXPECT_EQ(text_of_input(folder.path()), std::nullopt);
}

TEST(WholeFile, AFolderIsAnErrorAndNoException) {
  const TempFolder folder;
  const Result<std::string> bytes = read_whole(folder.path(), "try a file");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(bytes.error().hint, "try a file");
}

TEST(WholeFile, WhatIsWrittenIsReadBackFromANewFolder) {
  const TempFolder folder;
  const std::string bytes("a\0b\r\n", 5), path = folder.path("new/one/file");
  ASSERT_TRUE(write_whole(path, bytes));
  EXPECT_EQ(read_whole(path).value(), bytes);
  EXPECT_FALSE(write_whole(path + "/below", bytes));
}

} // namespace
} // namespace rankscope::test
