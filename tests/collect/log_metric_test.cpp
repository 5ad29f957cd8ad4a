#include "collect/log_metric.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::optional<double> metric(const std::string& path, const std::string& text) {
  const auto parsed = parse_log_metric(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? metric_of_log(path, *parsed) : std::nullopt;
}

TEST(LogMetric, MeanOfWhatIsFound) {
  const test::TempFolder folder;
  const std::string expression = "step ([0-9.e+]+) ms";
  const std::string log = folder.write(
      "log", "step 1.5 ms step 9 ms\nnothing\nstep 2.5 ms\nstep 1.2.3 ms\nstep 1e999 ms\n" +
                 std::string(10'000, 'x') + "step 100 ms\nstep 2 ms");
  EXPECT_EQ(metric(log, expression), 23.0); // 1.5, 9, 2.5, 100, 2
  EXPECT_EQ(metric(folder.write("bar", "step 1 ms\rstep 2 ms\rstep 6 ms\r\ndone\r\n" +
                                           std::string(5000, '=') + "\rstep 7 ms"),
                   expression),
            4.0); // a progress bar that overwrites its line
  EXPECT_FALSE(metric(folder.path("none"), expression));
  EXPECT_FALSE(parse_log_metric("step"));
  EXPECT_FALSE(parse_log_metric("(["));
}

TEST(LogMetric, SeparatorsOfThousands) {
  const test::TempFolder folder;
  const std::string log = folder.write("log", "rate 1,234.5 img\nrate 2,234.5 img\n");
  EXPECT_EQ(metric(log, "rate ([0-9.,]+) img"), 1734.5);
}

// HA-M2: a slow first step must not hide the differences between settings.
TEST(LogMetric, KindsAndSkip) {
  const test::TempFolder folder;
  const std::string log = folder.write("log", "step 5000 ms\nstep 20 ms\nstep 30 ms\nstep 22 ms\n");
  EXPECT_EQ(metric(log, "skip=1:step ([0-9]+) ms"), 24.0);
  EXPECT_EQ(metric(log, "max:step ([0-9]+) ms"), 5000.0);
  EXPECT_EQ(metric(log, "skip=1:max:step ([0-9]+) ms"), 30.0);
  EXPECT_EQ(metric(log, "min:step ([0-9]+) ms"), 20.0);
  EXPECT_EQ(metric(log, "median:step ([0-9]+) ms"), 26.0);
  EXPECT_EQ(metric(log, "median:skip=1:step ([0-9]+) ms"), 22.0);
  EXPECT_EQ(metric(log, "last:step ([0-9]+) ms"), 22.0);
  EXPECT_FALSE(metric(log, "skip=4:step ([0-9]+) ms"));
  EXPECT_EQ(metric(folder.write("other", "best: 7\n"), "best: ([0-9]+)"), 7.0) << "no prefix";
}

// HA-B23: carriage returns also end lines, even in a long log without line feeds.
TEST(LogMetric, ALogWithoutLineFeeds) {
  const test::TempFolder folder;
  std::string text;
  while (text.size() < 3'000'000)
    text += "step 1 ms\r";
  EXPECT_EQ(metric(folder.write("log", text + "step 4 ms"), "last:step ([0-9]+) ms"), 4.0);
}

// Before, only the first number of each line counted.
TEST(LogMetric, AllNumbersOfALine) {
  const test::TempFolder folder;
  const std::string log = folder.write("log", "a=1 a=5\nb a=3a=7\na= a=x a=4\n");
  EXPECT_EQ(metric(log, "a=([0-9]+)"), 4.0);
  EXPECT_EQ(metric(log, "max:a=([0-9]+)"), 7.0);
  EXPECT_EQ(metric(log, "skip=2:min:a=([0-9]+)"), 3.0);
  EXPECT_EQ(metric(log, "skip=4:a=([0-9]+)"), 4.0);
  EXPECT_EQ(metric(log, "^a=([0-9]+)"), 1.0) << "only the begin of a line";
  EXPECT_EQ(metric(log, "a=(?=([0-9]+))"), 4.0);
  EXPECT_EQ(metric(log, "(?=([0-9]))"), 4.0) << "an empty match ends";
  std::string line;
  for (int i = 1; i <= 3000; ++i)
    line += "step " + std::to_string(i) + " ms ";
  EXPECT_EQ(metric(folder.write("long", line), "step ([0-9]+) ms"), 1500.5);
  EXPECT_EQ(metric(folder.write("long", line), "last:skip=2999:step ([0-9]+) ms"), 3000.0);
}

// Regression test: lines longer than 4 KiB were ignored.
TEST(LogMetric, NumbersInLongLines) {
  const test::TempFolder folder;
  for (const std::size_t before : {0U, 2040U, 2050U, 4090U, 4096U, 6140U, 100'000U, 500'000U})
    for (const std::size_t after : {0U, 3U, 5000U}) {
      const std::string log = folder.write("log", std::string(before, 'x') + " step 1234 ms" +
                                                      std::string(after, 'y') + "\nstep 2 ms\n");
      EXPECT_EQ(metric(log, "max:step ([0-9]+) ms"), 1234.0) << before << " " << after;
    }
  const std::string log = folder.write("log", std::string(5000, ' ') + "7 ms" +
                                                  std::string(5000, ' ') + "8 ms\n9 ms\n");
  EXPECT_EQ(metric(log, "max:^([0-9]+) ms"), 9.0) << "only the begin of a line";
  EXPECT_EQ(metric(log, "min:([0-9]+) ms$"), 8.0) << "only the end of a line";
}

} // namespace
} // namespace rankscope
