// Tests the times of steps around a step without GPU work: the idle time belongs to the next step
// with GPU work, and compare has the same times from a trace and from its report.
#include "analyses/compare/compared_run.h"
#include "app/compare_reports_input.h"
#include "trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(EmptyStep, ItsIdleTimeBelongsToTheNextStepWithWork) {
  test::TraceBuilder b; // five steps of 10 ms; the third has no GPU work, the others have 2 ms
  for (int s = 0; s < 5; ++s) {
    b.annotation(fmt::format("ProfilerStep#{}", s + 1), s * 10000, 9999);
    if (s != 2)
      b.kernel("gemm", s * 10000 + 10, s * 10000 + 1000, 2000);
  }
  const LoadedTrace t = b.load();
  ReportOptions options;
  options.per_step = true;
  const auto report = build_report(t, options);
  ASSERT_TRUE(report);
  const Table* const sheet = report->find("gpu_timeline_per_step");
  ASSERT_NE(sheet, nullptr);
  std::vector<double> totals;
  double sum = 0;
  for (std::size_t r = 0; r < sheet->rows(); ++r)
    if (sheet->at(r, "type").text == "total_time") {
      totals.push_back(sheet->at(r, "time ms").number());
      sum += totals.back();
    }
  EXPECT_EQ(totals, (std::vector<double>{2, 10, 0, 20, 10}));
  EXPECT_EQ(sum, 42) << "total_time of the trace: from 1 to 43 ms";

  // the idle time before the first step is unknown
  const std::map<std::int64_t, std::int64_t> expected{
      {2, 10'000'000}, {3, 0}, {4, 20'000'000}, {5, 10'000'000}};
  EXPECT_EQ(rank_timeline(t, options).step_ns.at(TimeKind::kTotal), expected);
  const auto of_report = timeline_of_report(*report);
  ASSERT_TRUE(of_report);
  EXPECT_EQ(of_report->step_ns.at(TimeKind::kTotal), expected);
}

} // namespace
} // namespace rankscope
