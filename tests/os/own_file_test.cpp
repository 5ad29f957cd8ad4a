// Tests the path of the file that contains the code; librankscope.so is tested in tests/api and
// scripts/test_wheel.sh.
#include "os/own_file.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(OwnFile, OfAProgramIsTheProgram) {
  EXPECT_EQ(this_binary(), "/proc/self/exe");
}

} // namespace
} // namespace rankscope
