// Tests the public interface with the reference data of the source tree; only
// <rankscope/rankscope.h> is included.
#include "test_paths.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <rankscope/rankscope.h>
#include <string>
#include <utility>

namespace {

namespace rs = rankscope::v1;

std::string data(const std::string& below) {
  return (rankscope::test::source_dir() / "tests" / "data" / "synth" / below).string();
}

/// Returns "time ms" of a row of the reference's gpu_timeline: TYPE,TIME,PERCENT.
double reference_ms(const std::string& type) {
  std::ifstream in(data("amd/rank0_perf_report_csvs/gpu_timeline.csv"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(type + ","))
      return std::strtod(line.c_str() + type.size() + 1, nullptr);
  return NAN;
}

TEST(PublicInterface, LoadsATraceAndGivesItsTables) {
  rs::LoadOptions load;
  load.threads = 2;
  auto trace = rs::Trace::load(data("amd/rank0.json.gz"), load);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->rank(), 0);
  EXPECT_GT(trace->events(), trace->gpu_events());
  EXPECT_EQ(trace->gpu_events(), trace->linked_gpu_events());
  for (const rs::Problem& p : trace->problems())
    EXPECT_FALSE(p.data_lost) << p.message;

  rs::ReportOptions options;
  options.sheets = {"gpu_timeline", "GEMM"};
  auto report = trace->report(options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->size(), 2U);
  const rs::Table timeline = report->at(0);
  EXPECT_EQ(timeline.name(), "gpu_timeline");
  EXPECT_EQ(report->at(1).name(), "GEMM");

  // tables remain valid after the trace and the report are destroyed
  report = rs::Error{};
  trace = rs::Error{};
  const auto type = timeline.column("type");
  const auto time = timeline.column("time ms");
  ASSERT_TRUE(type && time);
  EXPECT_EQ(timeline.column(timeline.columns()[*time].id), time);
  EXPECT_EQ(timeline.columns()[*time].unit, "ms");
  std::size_t rows = 0;
  for (std::size_t row = 0; row < timeline.rows(); ++row, ++rows) {
    EXPECT_EQ(timeline.type(row, *type), rs::CellType::kText);
    EXPECT_EQ(timeline.type(row, *time), rs::CellType::kNumber);
    const std::string name(timeline.text(row, *type));
    EXPECT_NEAR(timeline.number(row, *time).value(), reference_ms(name), 1e-4) << name;
    EXPECT_EQ(std::strtod(timeline.shown(row, *time).c_str(), nullptr),
              timeline.number(row, *time).value());
  }
  EXPECT_EQ(rows, 8U);
}

TEST(PublicInterface, CellsBeyondATableAndOfAnotherTypeAreNothing) {
  const auto trace = rs::Trace::load(data("nv/rank0.json.gz"));
  ASSERT_TRUE(trace) << trace.error().message;
  rs::ReportOptions options;
  options.sheets = {"kernel_summary"};
  const auto report = trace->report(options);
  ASSERT_TRUE(report) << report.error().message;
  const rs::Table& kernels = report->at(0);
  const auto name = kernels.column("Kernel name");
  const auto count = kernels.column("Kernel duration (\u00b5s)_count");
  ASSERT_TRUE(name && count);
  EXPECT_EQ(kernels.type(0, *count), rs::CellType::kInteger);
  EXPECT_EQ(kernels.number(0, *count).value(),
            static_cast<double>(kernels.integer(0, *count).value()));
  EXPECT_EQ(kernels.text(0, *count), "");
  EXPECT_FALSE(kernels.number(0, *name));
  EXPECT_FALSE(kernels.integer(0, *name));
  EXPECT_EQ(kernels.shown(0, *name), kernels.text(0, *name));
  EXPECT_EQ(kernels.type(kernels.rows(), 0), rs::CellType::kBlank);
  EXPECT_EQ(kernels.type(0, kernels.columns().size()), rs::CellType::kBlank);
  EXPECT_EQ(kernels.shown(kernels.rows(), 0), "");
  EXPECT_FALSE(kernels.column("no such column"));
  EXPECT_FALSE(kernels.column(""));
}

TEST(PublicInterface, FailuresAreValues) {
  const auto missing = rs::Trace::load("/no/such/trace.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, rs::Error::Kind::kInput);
  EXPECT_NE(missing.error().message.find("/no/such/trace.json"), std::string::npos);

  const auto trace = rs::Trace::load(data("amd/rank1.json.gz"));
  ASSERT_TRUE(trace);
  rs::ReportOptions options;
  options.gpu_arch = "no such board";
  const auto report = trace->report(options);
  ASSERT_FALSE(report);
  EXPECT_FALSE(report.error().message.empty());
  EXPECT_FALSE(rs::version().empty());
}

} // namespace
