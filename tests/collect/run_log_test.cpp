// Tests run.log: time stamps of lines, and its size for short lines.
#include "collect/profile/perf_csv.h"
#include "collect/profile/run_log.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

// HA-B26: for a program that prints short lines, the log was ten times as long as the output.
TEST(RunLog, ShortLinesOfOneMomentShareAStamp) {
  const test::TempFolder folder;
  const std::string path = folder.path("run.log");
  auto log = RunLog::create(path);
  ASSERT_TRUE(log);
  std::string output;
  for (int i = 0; i < 10'000; ++i)
    output += "y\n";
  log->add(1, output, 0.5);
  EXPECT_TRUE(log->finish());
  EXPECT_LT(test::bytes_of(path).size(), output.size() + 100);
  EXPECT_EQ(test::bytes_of(path).rfind("[    0.500000] out y\ny\ny\n", 0), 0U);
}

TEST(RunLog, AnotherStreamTimeOrLongLineHasAStamp) {
  const test::TempFolder folder;
  const std::string path = folder.path("run.log");
  auto log = RunLog::create(path);
  ASSERT_TRUE(log);
  log->add(1, "a\nb\n", 1);
  log->add(2, "c\n", 1);
  log->add(1, "d\n[e\nf of twenty-one bytes\ng", 1.0001);
  log->add(1, "h\n", 1.2);
  log->add(1, "i\n", 1.2005);
  EXPECT_TRUE(log->finish());
  EXPECT_EQ(test::bytes_of(path), "[    1.000000] out a\n"
                                  "b\n"
                                  "[    1.000000] err c\n"
                                  "[    1.000100] out d\n"
                                  "[    1.000100] out [e\n"
                                  "[    1.000100] out f of twenty-one bytes\n"
                                  "gh\n"
                                  "[    1.200500] out i\n");
}

TEST(RunLog, AMetricIsFoundInALineWithoutAStamp) {
  const test::TempFolder folder;
  const std::string path = folder.path("run.log");
  auto log = RunLog::create(path);
  ASSERT_TRUE(log);
  log->add(1, "begins\nperformance: 3 x\n", 1);
  EXPECT_TRUE(log->finish());
  const auto metric = metric_of_run_log(path);
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->performance, "3");
}

} // namespace
} // namespace rankscope
