#include "cli/progress.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Progress, WhenAllIsReadWhatIsLeftIsWriting) {
  EXPECT_EQ(progress_bar(1, 4, 812.4, 3.2),
            "[#######.......................] 1/4 traces, 812 MB/s, 3 s left ");
  const std::string last = progress_bar(4, 4, 812.4, 0);
  EXPECT_EQ(last.find("s left"), std::string::npos) << last;
  EXPECT_NE(last.find("writing"), std::string::npos) << last;
}

TEST(Progress, PartsAreNoTracesThatAreRead) { // HA-D15
  EXPECT_EQ(progress_bar(1, 4, 0, 0), "[#######.......................] 1/4 ranks");
}

} // namespace
} // namespace rankscope
