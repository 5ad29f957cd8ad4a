// Facts behind the sheets of a trace: made once per trace and options, and what the sheets show.
#include "analyses/operators/roofline.h"
#include "analyses/timeline/per_step.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

const char* const kMm = R"({"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]})";

/// Two steps, an aten::mm of 10 us in the first, one of 20 us and a copy of 5 us in the second.
LoadedTrace two_steps() {
  TraceBuilder b;
  b.annotation("ProfilerStep#3", 0, 100).op("aten::mm", 10, 20, kMm).kernel("k", 15, 40, 10);
  b.annotation("ProfilerStep#4", 100, 100).op("aten::mm", 110, 20, kMm).kernel("k", 115, 140, 20);
  b.op("aten::copy_", 140, 20).kernel("c", 145, 170, 5);
  return b.load();
}

std::int64_t time_of(const std::vector<TimelineRow>& rows, TimeKind kind) {
  for (const TimelineRow& row : rows)
    if (row.kind == kind)
      return row.time_ns;
  ADD_FAILURE() << time_kind_name(kind);
  return 0;
}

TEST(ReportFacts, OfEachStep) {
  const LoadedTrace t = two_steps();
  const ReportOptions options;
  const std::vector<StepTimeline>& timelines = timeline_per_step_of(t, options);
  ASSERT_EQ(timelines.size(), 2U);
  EXPECT_EQ(timelines[0].step, 3);
  EXPECT_EQ(time_of(timelines[0].rows, TimeKind::kComputation), 10'000);
  EXPECT_EQ(timelines[1].step, 4);
  EXPECT_EQ(time_of(timelines[1].rows, TimeKind::kComputation), 25'000);
  EXPECT_EQ(time_of(timelines[1].rows, TimeKind::kTotal), 35'000);
  const std::vector<StepOps>& ops = ops_per_step_of(t, options);
  ASSERT_EQ(ops.size(), 2U);
  ASSERT_EQ(ops[1].rows.size(), 2U);
  EXPECT_EQ(ops[1].rows[0].name, "aten::mm");
  EXPECT_EQ(ops[1].rows[0].direct_ns, 20'000);
  EXPECT_DOUBLE_EQ(ops[1].rows[0].percent, 80);
  EXPECT_EQ(ops[1].rows[1].name, "aten::copy_");
  EXPECT_DOUBLE_EQ(ops[1].rows[1].cumulative_percent, 100);
}

TEST(ReportFacts, AreMadeOncePerOptions) {
  const LoadedTrace t = two_steps();
  const ReportOptions plain;
  ReportOptions split;
  split.micro_idle_us = 200;
  EXPECT_EQ(&timeline_per_step_of(t, plain), &timeline_per_step_of(t, plain));
  EXPECT_EQ(timeline_per_step_of(t, plain)[0].rows.size(), 8U);
  EXPECT_EQ(timeline_per_step_of(t, split)[0].rows.size(), 9U);
  ReportOptions arch;
  arch.gpu_arch = "MI300X";
  ASSERT_TRUE(family_sheets_of(t, plain) && family_sheets_of(t, arch));
  EXPECT_FALSE(family_sheets_of(t, plain)->front().arch);
  EXPECT_TRUE(family_sheets_of(t, arch)->front().arch);
  arch.gpu_arch = "no such board";
  EXPECT_FALSE(family_sheets_of(t, arch));
  EXPECT_EQ(&ops_summary_of(t, plain), &ops_summary_of(t, split)); // does not depend on idle time
}

TEST(ReportFacts, OfAFamily) {
  const LoadedTrace t = two_steps();
  const auto& sheets = family_sheets_of(t, {});
  ASSERT_TRUE(sheets);
  EXPECT_EQ(find_family(*sheets, "SDPA_fwd"), nullptr);
  const FamilySheet* const gemm = find_family(*sheets, "GEMM");
  ASSERT_NE(gemm, nullptr);
  ASSERT_EQ(gemm->rows.size(), 1U);
  const FamilyRow& row = gemm->rows[0];
  EXPECT_EQ(row.name, "aten::mm");
  EXPECT_EQ(row.count, 2U);
  EXPECT_DOUBLE_EQ(row.kernel_us.min, 10);
  EXPECT_DOUBLE_EQ(row.kernel_us.max, 20);
  EXPECT_DOUBLE_EQ(row.flops, 2. * 2 * 3 * 4);
  const Table sheet = family_table(*gemm, {});
  EXPECT_EQ(sheet.at(0, "param: M").i, 2);
  EXPECT_EQ(sheet.at(0, "Input Dims_first").text, row.input_dims);
}

} // namespace
} // namespace rankscope
