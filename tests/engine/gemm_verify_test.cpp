// Tests that extremes of GEMM groups are measured again from the trace: they agree with the
// extracted values, and disagree if the stated values differ from the trace.
#include "analyses/gemm/gemm_facts.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr const char* kArgs = R"({"Input Dims":[[64,32],[32,16]],"Input type":["float","float"],)"
                              R"("Input Strides":[[32,1],[16,1]],"Concrete Inputs":["",""]})";

/// Returns a trace with two products of 30 and 50 us. The second product has two kernels with a
/// gap; a third operator runs on the same stream.
LoadedTrace two_products() {
  return test::TraceBuilder()
      .op("aten::mm", 0, 10, kArgs)
      .kernel("Cijk_a", 1, 100, 30)
      .op("aten::mm", 20, 10, kArgs)
      .kernel("Cijk_a", 21, 200, 40)
      .kernel("Cijk_b", 23, 250, 10)
      .op("aten::add", 40, 10)
      .kernel("add", 41, 242, 5)
      .load();
}

std::string cell(const Table& t, std::size_t row, const char* column) {
  return std::string(t.at(row, column).text);
}

Table timestamps_of(const RankGemms& gemms) {
  std::vector<RankGemms> ranks(1, gemms);
  return gemm_table(gemm_facts(ranks, 5, GemmRanking::kRange), GemmTable::kTimestamps, 5);
}

TEST(GemmVerify, WhatWasExtractedIsFoundInTheTrace) {
  const LoadedTrace trace = two_products();
  const RankGemms gemms = extract_gemms(trace, ReportOptions{});
  ASSERT_EQ(gemms.groups.size(), 1U);
  EXPECT_EQ(gemms.groups[0].shortest_measured_ns, 30'000);
  EXPECT_EQ(gemms.groups[0].longest_measured_ns, 50'000); // 40 + 10, without the gap
  const Table t = timestamps_of(gemms);
  EXPECT_EQ(cell(t, 0, "min_verified"), "pass");
  EXPECT_EQ(cell(t, 0, "max_verified"), "pass");
  EXPECT_EQ(t.at(0, "max_duration_found_us").number(), 50);
}

TEST(GemmVerify, AWrongDurationFails) {
  const LoadedTrace trace = two_products();
  RankGemms gemms = extract_gemms(trace, ReportOptions{});
  GemmGroup& group = gemms.groups.at(0);
  group.instances[group.longest].dur_ns += 1;
  measure_extremes(trace, gemms);
  const Table t = timestamps_of(gemms);
  EXPECT_EQ(cell(t, 0, "min_verified"), "pass");
  EXPECT_EQ(cell(t, 0, "max_verified"), "fail");
  EXPECT_EQ(t.at(0, "max_duration_found_us").number(), 50);
  EXPECT_EQ(t.at(0, "kernel_time_max_us").number(), 50.001);
}

TEST(GemmVerify, AWrongTimeOrOperatorFailsAndFindsNothing) {
  const LoadedTrace trace = two_products();
  RankGemms gemms = extract_gemms(trace, ReportOptions{});
  GemmGroup& group = gemms.groups.at(0);
  group.instances[group.shortest].start_ns += 1;
  measure_extremes(trace, gemms);
  Table t = timestamps_of(gemms);
  EXPECT_EQ(cell(t, 0, "min_verified"), "fail");
  EXPECT_TRUE(t.at(0, "min_duration_found_us").is_null());
  EXPECT_EQ(cell(t, 0, "max_verified"), "pass");
  group.op = "aten::bmm";
  measure_extremes(trace, gemms);
  t = timestamps_of(gemms);
  EXPECT_EQ(cell(t, 0, "max_verified"), "fail");
}

TEST(GemmVerify, TheExtremesOfAnotherTraceFail) {
  const LoadedTrace trace = two_products();
  RankGemms gemms = extract_gemms(trace, ReportOptions{});
  const LoadedTrace other = test::TraceBuilder()
                                .op("aten::mm", 0, 10, kArgs)
                                .kernel("Cijk_a", 1, 100, 31)
                                .op("aten::mm", 20, 10, kArgs)
                                .kernel("Cijk_a", 21, 200, 40)
                                .load();
  measure_extremes(other, gemms);
  const Table t = timestamps_of(gemms);
  EXPECT_EQ(cell(t, 0, "min_verified"), "fail");
  EXPECT_EQ(cell(t, 0, "max_verified"), "fail");
}

TEST(GemmVerify, KernelsWithoutOperators) {
  constexpr const char* kKernel = "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64";
  const LoadedTrace trace =
      test::TraceBuilder().kernel(kKernel, 1, 100, 30).kernel(kKernel, 3, 200, 40).load();
  RankGemms gemms = extract_gemms(trace, ReportOptions{});
  ASSERT_EQ(gemms.groups.size(), 1U);
  EXPECT_EQ(gemms.groups[0].op, kGemmKernelOnly);
  EXPECT_EQ(gemms.groups[0].longest_measured_ns, 40'000);
  gemms.groups[0].instances[gemms.groups[0].longest].dur_ns = 41'000;
  measure_extremes(trace, gemms);
  EXPECT_EQ(cell(timestamps_of(gemms), 0, "max_verified"), "fail");
}

} // namespace
} // namespace rankscope
