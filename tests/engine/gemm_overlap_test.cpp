// Tests what overlaps the calls of GEMMs, with hand-calculated times.
#include "analyses/gemm/gemm_facts.h"
#include "analyses/gemm/gemm_steps.h"
#include "trace_builder.h"

#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

// A call with kernels from 100 to 200 and from 1000 to 1120 us. A collective runs from 150 to 1050,
// another one only in the gap.
TEST(GemmOverlap, TheGapsOfACallAreNotOverlapped) {
  const LoadedTrace trace = test::TraceBuilder()
                                .op("aten::mm", 10, 100)
                                .kernel("Cijk_a", 20, 100, 100)
                                .kernel("Cijk_b", 30, 1000, 120)
                                .kernel("ncclDevKernel_AllReduce(x)", 120, 150, 900, 9)
                                .kernel("ncclDevKernel_AllGather(x)", 130, 300, 100, 10)
                                .load();
  const RankGemms gemms = extract_gemms(trace, ReportOptions{});
  const GemmFacts facts = gemm_facts({gemms}, 5, GemmRanking::kRange);
  const Table t = gemm_table(facts, GemmTable::kOverlap, 5);
  ASSERT_EQ(t.rows(), 1U);
  EXPECT_EQ(t.at(0, "overlapping_collective_count").i, 1);
  EXPECT_NEAR(t.at(0, "max_overlap_percentage").number(), 100.0 / 220 * 100, 1e-9);
  EXPECT_NEAR(t.at(0, "total_overlap_percentage").number(), 100.0 / 220 * 100, 1e-9);
  EXPECT_EQ(facts.rows[0].longest.end_ns, 1'120'000);

  // the same from the tables of the earlier steps
  const Table variance = gemm_table(facts, GemmTable::kVariance, 5);
  const Table timestamps = with_timestamps(variance, {find_instances(variance, 0, gemms)}, 0.01);
  Table collectives("nccl_long", {"rank", "Collective name", "ts", "dur"});
  collectives.add_row({Value(0), Value("allreduce"), Value(150.0), Value(900.0)});
  collectives.add_row({Value(0), Value("allgather"), Value(300.0), Value(100.0)});
  const Table overlap = with_overlap(timestamps, {&collectives});
  for (const char* column : {"overlapping_collective_count", "max_overlap_percentage",
                             "total_overlap_percentage", "total_overlap_duration_ms"})
    EXPECT_NEAR(overlap.at(0, column).number(), t.at(0, column).number(), 1e-9) << column;
}

// A process with two GPUs: the collective and the copy run only on the other GPU.
TEST(GemmOverlap, OnlyTheWorkOfTheSameGpuOverlaps) {
  std::string text = test::TraceBuilder()
                         .op("aten::mm", 10, 20)
                         .kernel("Cijk_a", 20, 100, 1000)
                         .op("aten::mm", 40, 20)
                         .kernel("Cijk_a", 50, 100, 1300)
                         .kernel("ncclDevKernel_AllReduce(x)", 70, 90, 1500, 9)
                         .copy("Memcpy HtoD", 80, 100, 600)
                         .text();
  const std::string first_gpu = "\"device\":0";
  for (std::size_t at = text.find("1300"); at != std::string::npos;
       at = text.find(first_gpu, at + 1))
    if (text.compare(at, first_gpu.size(), first_gpu) == 0)
      text[at + first_gpu.size() - 1] = '1';
  const test::TempFolder folder;
  const auto trace = load_trace(folder.write("t.json", text), LoadOptions{});
  ASSERT_TRUE(trace);
  const RankGemms gemms = extract_gemms(*trace, ReportOptions{});
  ASSERT_EQ(gemms.groups.size(), 2U); // one for each GPU
  for (const GemmGroup& g : gemms.groups) {
    const GemmInstance& call = g.instances.at(0);
    EXPECT_EQ(call.overlap_ns, g.device == 0 ? 0 : 1'300'000);
    EXPECT_EQ(call.memcpy_overlap_ns, g.device == 0 ? 0 : 600'000);
    EXPECT_EQ(g.longest_neighbours.size(), g.device == 0 ? 0U : 1U);
    EXPECT_EQ(g.longest_measured_ns, call.dur_ns);
  }
}

// A row of a report joins the calls on all streams: its minimum and maximum are in different
// groups.
TEST(GemmTimestamps, ARowOfAReportJoinsStreams) {
  const LoadedTrace trace = test::TraceBuilder()
                                .op("aten::bmm", 10, 20)
                                .kernel("Cijk_w", 20, 100, 50, 7)
                                .op("aten::bmm", 40, 20)
                                .kernel("Cijk_w", 50, 200, 55, 7)
                                .op("aten::bmm", 70, 20)
                                .kernel("Cijk_w", 80, 300, 500, 8)
                                .op("aten::bmm", 100, 20)
                                .kernel("Cijk_w", 110, 900, 510, 8)
                                .load();
  const RankGemms gemms = extract_gemms(trace, ReportOptions{});
  ASSERT_EQ(gemms.groups.size(), 2U);
  Table variance("variance", {"op", "kernel_name", "kernel_time_min_us", "kernel_time_max_us"});
  variance.add_row({Value("aten::bmm"), Value("Cijk_w"), Value(50.0), Value(510.0)});
  const FoundInstances found = find_instances(variance, 0, gemms);
  EXPECT_EQ(found.min_start_ns, 100'000);
  EXPECT_EQ(found.max_start_ns, 900'000);
  const Table t = with_timestamps(variance, {found}, 0.01);
  EXPECT_EQ(t.at(0, "min_verified").text, "pass");
  EXPECT_EQ(t.at(0, "max_verified").text, "pass");
}

// Half of the calls exceed this value: it is interpolated between 0 and 10 us.
TEST(GemmVariance, ThePercentileIsInterpolated) {
  const LoadedTrace trace = test::TraceBuilder()
                                .op("aten::mm", 10, 20)
                                .kernel("Cijk_a", 20, 100, 0)
                                .op("aten::mm", 40, 20)
                                .kernel("Cijk_a", 50, 200, 10)
                                .load();
  const GemmFacts facts =
      gemm_facts({extract_gemms(trace, ReportOptions{})}, 5, GemmRanking::kRange);
  const Table t = gemm_table(facts, GemmTable::kVariance, 5);
  for (const char* name : {"p95_us", "kernel_p95_us"}) {
    EXPECT_DOUBLE_EQ(t.at(0, name).number(), 9.5);
    EXPECT_NE(t.columns()[*t.column(name)].help.find("interpolated"), std::string::npos) << name;
  }
}

TEST(GemmOverlap, TextOfTheBusyTimes) {
  const IntervalSet busy({{-5, 3}, {10, 20}});
  EXPECT_EQ(busy_text(busy), "-5-3;10-20");
  EXPECT_EQ(busy_text(busy_of_text("-5-3;10-20")), "-5-3;10-20");
  for (const char* text : {"", "3", "3-", "-", "5-3", "1-2;", "1-2;x", "1-9223372036854775807"})
    EXPECT_EQ(busy_of_text(text).empty(), std::string_view(text) != "1-2;") << text;
}

} // namespace
} // namespace rankscope
