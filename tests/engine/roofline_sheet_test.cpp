// Tests the roofline in the workbook of a report: points and corners with hand-calculated values.
#include "analyses/top/roofline_sheet.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

const char* const kRooflineSheetMm =
    R"({"Input Dims":[[4,8],[8,6]],"Input type":["float","float"],"Input Strides":[[8,1],[6,1]]})";

TEST(RooflineSheet, OperatorsBelowTheCornersOfTheirPeaks) {
  const test::TempFolder folder;
  ReportOptions options;
  options.gpu_arch = folder.write("board.json", R"({"name":"Board","mem_bw_gbps":1000,
      "max_achievable_tflops":{"matrix_fp32":100,"matrix_bf16":400}})");
  TraceBuilder b;
  b.op("aten::mm", 0, 50, kRooflineSheetMm).kernel("gemm", 1, 200, 10);
  b.op("aten::mm", 100, 50).kernel("gemm", 101, 300, 10);                     // no shapes: no point
  b.op("aten::foo", 200, 50, kRooflineSheetMm).kernel("other", 201, 400, 10); // no model
  const LoadedTrace t = b.load();
  const auto sheet = roofline_sheet(t, options);
  ASSERT_TRUE(sheet) << sheet.error().message();
  ASSERT_TRUE(*sheet);
  const Table& table = **sheet;
  ASSERT_EQ(table.rows(), 4U);
  // 2 * 4 * 6 * 8 FLOPs over (32 + 48 + 24) * 4 bytes, in 10 us
  EXPECT_EQ(table.at(0, "what").text, "aten::mm");
  EXPECT_NEAR(table.at(0, "FLOPS/Byte").number(), 384 / 416., 1e-12);
  EXPECT_NEAR(table.at(0, "TFLOPS/s").number(), 384 / 10e-6 / 1e12, 1e-15);
  EXPECT_EQ(table.at(0, "Compute Spec").text, "matrix_fp32");
  // the memory limit at 0.923 FLOPs per byte is 1000 GB/s * 0.923; the ridge is at 100 * 1000 /
  // 1000; the line is flat to 400
  EXPECT_NEAR(table.at(1, "FLOPS/Byte").number(), 384 / 416., 1e-12);
  EXPECT_NEAR(table.at(1, "TFLOPS/s").number(), 384 / 416., 1e-12);
  EXPECT_EQ(table.at(2, "FLOPS/Byte").number(), 100);
  EXPECT_EQ(table.at(2, "TFLOPS/s").number(), 100);
  EXPECT_EQ(table.at(3, "FLOPS/Byte").number(), 400);
  EXPECT_EQ(table.at(3, "TFLOPS/s").number(), 100);
  ASSERT_EQ(table.charts.size(), 1U);
  const Chart& chart = table.charts.front();
  EXPECT_EQ(chart.kind, Chart::Kind::kPoints);
  EXPECT_EQ(chart.last_row, 4U);
  ASSERT_EQ(chart.parts.size(), 2U);
  EXPECT_EQ(chart.parts[0].rows, 1U);
  EXPECT_FALSE(chart.parts[0].line);
  EXPECT_EQ(chart.parts[1].name, "matrix_fp32");
  EXPECT_EQ(chart.parts[1].rows, 3U);
  EXPECT_TRUE(chart.parts[1].line);
}

// If a GPU has no rate for 16-bit vector work, the point is below the line of 32-bit work.
TEST(RooflineSheet, VectorWorkOf16BitsIsThere) {
  const test::TempFolder folder;
  ReportOptions options;
  options.gpu_arch = folder.write("board.json", R"({"name":"Board","mem_bw_gbps":1000,
      "max_achievable_tflops":{"vector_fp32":50}})");
  TraceBuilder b;
  b.op("aten::add", 0, 50,
       R"({"Input Dims":[[1024],[1024]],"Input type":["c10::BFloat16","c10::BFloat16"],
           "Input Strides":[[1],[1]]})")
      .kernel("elementwise", 1, 200, 10);
  const LoadedTrace t = b.load();
  const auto sheet = roofline_sheet(t, options);
  ASSERT_TRUE(sheet) << sheet.error().message();
  ASSERT_TRUE(*sheet);
  const Table& table = **sheet;
  ASSERT_EQ(table.rows(), 4U);
  EXPECT_EQ(table.at(0, "Compute Spec").text, "vector_bf16");
  EXPECT_NEAR(table.at(0, "FLOPS/Byte").number(), 1024 / (3 * 2048.), 1e-12);
  EXPECT_EQ(table.at(2, "Compute Spec").text, "vector_fp32");
  EXPECT_EQ(table.at(2, "TFLOPS/s").number(), 50);
}

TEST(RooflineSheet, NoneWithoutABoardOrACost) {
  ReportOptions options; // no GPU is set
  const LoadedTrace rated =
      TraceBuilder().op("aten::mm", 0, 50, kRooflineSheetMm).kernel("g", 1, 200, 10).load();
  auto sheet = roofline_sheet(rated, options);
  ASSERT_TRUE(sheet);
  EXPECT_FALSE(*sheet);
  options.gpu_arch = "MI300X";
  const LoadedTrace unknown = TraceBuilder().op("aten::foo", 0, 50).kernel("k", 1, 200, 10).load();
  sheet = roofline_sheet(unknown, options);
  ASSERT_TRUE(sheet);
  EXPECT_FALSE(*sheet);
}

} // namespace
} // namespace rankscope
