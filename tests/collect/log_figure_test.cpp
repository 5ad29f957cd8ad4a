#include "collect/log_figure.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(LogFigure, MeanOfWhatIsFound) {
  const test::TempFolder folder;
  const auto expression = figure_expression("step ([0-9.e+]+) ms");
  ASSERT_TRUE(expression);
  const std::string log = folder.write(
      "log", "step 1.5 ms step 9 ms\nnothing\nstep 2.5 ms\nstep 1.2.3 ms\nstep 1e999 ms\n" +
                 std::string(10'000, 'x') + "step 100 ms\nstep 2 ms");
  EXPECT_EQ(figure_of_log(log, *expression), 2.0); // 1.5, 2.5, 2
  EXPECT_EQ(figure_of_log(folder.write("bar", "step 1 ms\rstep 2 ms\rstep 6 ms\r\ndone\r\n" +
                                                  std::string(5000, '=') + "\rstep 7 ms"),
                          *expression),
            4.0); // a bar that writes over its line
  EXPECT_FALSE(figure_of_log(folder.path("none"), *expression));
  EXPECT_FALSE(figure_expression("step"));
  EXPECT_FALSE(figure_expression("(["));
}

} // namespace
} // namespace rankscope
