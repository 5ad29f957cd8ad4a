#include "os/input_text.h"

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

} // namespace
} // namespace rankscope::test
