// Tests notes of a report: time without a model, and rates that are not possible.
#include "analyses/operators/report_notes.h"
#include "analyses/operators/roofline.h"
#include "analyses/top/top_facts.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

const char* const kReportNotesMatrices =
    R"({"Input Dims":[[512,512],[512,512]],"Input type":["c10::BFloat16","c10::BFloat16"],)"
    R"("Input Strides":[[512,1],[512,1]],"Concrete Inputs":["",""]})";

std::vector<Problem> notes_of(const TraceBuilder& b, ReportOptions options = {}) {
  const LoadedTrace t = b.load();
  const auto report = build_report(t, options);
  EXPECT_TRUE(report);
  Diagnostics out;
  EXPECT_TRUE(add_report_notes(t, options, *report, out));
  return out.problems();
}

bool has(const std::vector<Problem>& problems, std::string_view name) {
  return std::any_of(problems.begin(), problems.end(),
                     [name](const Problem& p) { return p.name == name; });
}

TEST(ReportNotes, SharesOfTheGpuTimeAddUp) {
  TraceBuilder
      b; // 60 us in a product, 30 us in an operator without a model, 10 us without an operator
  b.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 60);
  b.op("mine::unknown", 20, 10).kernel("unknown_kernel", 21, 200, 30);
  b.kernel("lonely", 40, 300, 10);
  const LoadedTrace t = b.load();
  const auto c = model_coverage(t, {});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->total_ns, 100'000);
  EXPECT_EQ(c->modelled_ns, 60'000);
  EXPECT_EQ(c->no_model_ns, 30'000);
  EXPECT_EQ(c->no_operator_ns, 10'000);
  EXPECT_EQ(c->largest_name, "mine::unknown");
  EXPECT_EQ(coverage_line(*c),
            "GPU time without communication 0.100 ms: 60.0 % in operators with a model, 30.0 % in "
            "operators without one, 10.0 % without an operator");
  const auto notes = notes_of(b);
  EXPECT_TRUE(notes.empty()) << notes.front().sentence;
}

// The line of report and the values of top (its findings, its page) have the same base. All traces
// have 1 ms in a product.
TEST(ReportNotes, WorkWithoutALaunchIsPartOfTheGpuTime) {
  const auto expect_shares = [](const TraceBuilder& b, double total_ms, double no_operator_ms) {
    const LoadedTrace t = b.load();
    const auto c = model_coverage(t, {});
    ASSERT_TRUE(c);
    EXPECT_EQ(c->total_ns, total_ms * 1e6);
    EXPECT_EQ(c->modelled_ns, 1e6);
    EXPECT_EQ(c->no_operator_ns, no_operator_ms * 1e6);
    auto rank = top_rank_of(t, {});
    ASSERT_TRUE(rank);
    TopParts parts;
    parts.put(std::move(*rank), {}, {}, {});
    const TopFacts facts = top_facts(parts, nullptr, {}, {});
    EXPECT_DOUBLE_EQ(facts.overview.work_ms, total_ms);
    EXPECT_DOUBLE_EQ(facts.overview.no_operator_ms, no_operator_ms);
    const auto product = std::ranges::find_if(
        facts.operators, [](const TopOperator& o) { return o.sum.name == "aten::mm"; });
    ASSERT_NE(product, facts.operators.end());
    EXPECT_DOUBLE_EQ(product->percent, 100 / total_ms);
  };
  TraceBuilder product;
  product.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 1000);
  TraceBuilder kernels = product; // 9 ms of kernels whose launches are not in the trace
  for (int i = 0; i < 9; ++i)
    kernels.unlaunched("flash", 2000 + 1000 * i, 1000);
  expect_shares(kernels, 10, 9);
  TraceBuilder copy = product; // 9 ms of a copy that no operator launched
  copy.copy("Memcpy HtoD (Pinned -> Device)", 600, 2000, 9000);
  expect_shares(copy, 10, 9);
  for (int i = 0; i < 5; ++i)
    copy.unlaunched("flash", 12000 + 1000 * i, 1000);
  expect_shares(copy, 15, 14);
}

TEST(ReportNotes, MostTimeWithoutOperatorOrModelIsTold) {
  TraceBuilder lonely;
  lonely.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 40);
  lonely.kernel("lonely", 40, 300, 60);
  EXPECT_TRUE(has(notes_of(lonely), "most_time_without_operator"));
  TraceBuilder region;
  region.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 40);
  region.op("CompiledRegion", 20, 10).kernel("fused", 21, 300, 60);
  const auto notes = notes_of(region);
  EXPECT_TRUE(has(notes, "one_row_holds_most"));
  EXPECT_FALSE(has(notes, "most_time_without_operator"));
}

TEST(ReportNotes, ShortKernelsThatTheStudyLeavesOutAreCounted) {
  TraceBuilder b;
  b.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 60);
  b.kernel("short one", 40, 300, 5).kernel("short two", 42, 310, 5).kernel("long", 44, 320, 50);
  std::size_t counted = 0;
  for (const Problem& p : notes_of(b))
    if (p.name == "short_kernels_without_operator")
      counted = p.count;
  EXPECT_EQ(counted, 2U);
}

TEST(ReportNotes, CopiesOverTheLinkHaveNoRoofline) {
  const char* const args = R"({"Input Dims":[[1024],[1024]],"Input type":["float","float"],)"
                           R"("Input Strides":[[1],[1]]})";
  const auto rated = [&](const char* name, bool compat) {
    TraceBuilder b;
    b.op("aten::copy_", 0, 10, args).copy(name, 1, 100, 10);
    b.kernel("a launch says how ids link", 20, 200, 1);
    const LoadedTrace t = b.load();
    ReportOptions options;
    options.gpu_arch = "MI300X";
    options.compat_tracelens = compat;
    const auto& families = t.shared(FamiliesKey{options});
    EXPECT_TRUE(families);
    const FamilySheet* family = find_family(families->sheets, "UnaryElementwise");
    EXPECT_EQ(family->rows.front().kernel_us.sum, 10);
    return family != nullptr && family->rows.front().roofline.has_value();
  };
  EXPECT_TRUE(rated("Memcpy DtoD (Device -> Device)", false));
  for (const char* name : {"Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)",
                           "CopyHostToDevice", "CopyDeviceToHost"}) {
    EXPECT_FALSE(rated(name, false)) << name;
    EXPECT_TRUE(rated(name, true)) << name;
  }
}

TEST(ReportNotes, RatesAboveThePeakAreTold) {
  // 2 * 512^3 = 268 MFLOP and 1.5 MB: 268 TFLOPS in 1 us; in 0.1 us 2684 TFLOPS and 15.7 TB/s
  const auto in = [](double us) {
    TraceBuilder b;
    b.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, us);
    return b;
  };
  ReportOptions mi300x;
  mi300x.gpu_arch = "MI300X";
  EXPECT_FALSE(has(notes_of(in(1), mi300x), "rate_above_peak"));
  EXPECT_FALSE(has(notes_of(in(1), mi300x), "bandwidth_above_peak"));
  for (const ReportOptions& options : {mi300x, ReportOptions{}}) {
    EXPECT_TRUE(has(notes_of(in(0.1), options), "rate_above_peak"));
    EXPECT_TRUE(has(notes_of(in(0.1), options), "bandwidth_above_peak"));
  }
}

// A GPU description that cannot be read is an error only if the families are computed.
TEST(ReportNotes, FamiliesAreLookedAtOnlyWhereTheReportHasThem) {
  TraceBuilder b;
  b.op("aten::mm", 0, 10, kReportNotesMatrices).kernel("Cijk_x", 1, 100, 60);
  const LoadedTrace t = b.load();
  ReportOptions options;
  options.gpu_arch = "no such board";
  Diagnostics out;
  Report report;
  report.tables.emplace_back("gpu_timeline", std::vector<Column>{{"type"}});
  EXPECT_TRUE(add_report_notes(t, options, report, out));
  report.tables.emplace_back("GEMM", std::vector<Column>{{"name"}});
  EXPECT_FALSE(add_report_notes(t, options, report, out));
}

} // namespace
} // namespace rankscope
