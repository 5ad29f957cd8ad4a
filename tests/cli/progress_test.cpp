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

TEST(Progress, OneTraceHasABarOfItsBytes) {
  EXPECT_EQ(reading_bar(10, 100, 0.4), ""); // reading may end very soon
  EXPECT_EQ(reading_bar(500'000'000, 1'000'000'000, 2),
            "[###############...............] 500 of 1000 MB, 250 MB/s          ");
  const std::string last = reading_bar(1'000'000'000, 1'000'000'000, 4);
  EXPECT_NE(last.find("computing"), std::string::npos) << last;
}

TEST(Progress, PartsAreNoTracesThatAreRead) { // HA-D15
  EXPECT_EQ(progress_bar(1, 4, 0, 0), "[#######.......................] 1/4 ranks");
}

} // namespace
} // namespace rankscope
