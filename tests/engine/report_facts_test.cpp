// Tests the facts for the sheets of a trace: they are computed once per trace and options, and the
// sheets show them.
#include "analyses/operators/kernel_summary.h"
#include "analyses/operators/roofline.h"
#include "analyses/operators/unified_perf.h"
#include "analyses/operators/unique_args.h"
#include "analyses/timeline/per_step.h"
#include "trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::TraceBuilder;

const char* const kMm = R"({"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]})";

/// Returns a trace of two steps: an aten::mm of 10 us in the first, an aten::mm of 20 us and a copy
/// of 5 us in the second.
LoadedTrace two_steps_report_facts() {
  TraceBuilder b;
  b.annotation("ProfilerStep#3", 0, 100).op("aten::mm", 10, 20, kMm).kernel("k", 15, 40, 10);
  b.annotation("ProfilerStep#4", 100, 100).op("aten::mm", 110, 20, kMm).kernel("k", 115, 140, 20);
  b.op("aten::copy_", 140, 20).kernel("c", 145, 170, 5);
  return b.load();
}

double time_of(const std::vector<TimelineRow>& rows, TimeKind kind) {
  for (const TimelineRow& row : rows)
    if (row.kind == kind)
      return row.time_ns;
  ADD_FAILURE() << time_kind_name(kind);
  return 0;
}

/// Computation [0, 10), a memset [5, 20), a copy [30, 34): the last 10 us of the memset are
/// exposed.
TEST(ReportFacts, MemsetsCountAsTheOptionSays) {
  const test::TempFolder folder;
  const auto gpu = [](const char* category, int id, int ts, int dur) {
    return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunch","pid":1,"tid":1,)"
                       R"("ts":{3},"dur":1,"args":{{"correlation":{1}}}}},{{"ph":"X","cat":"{0}",)"
                       R"("name":"n","pid":0,"tid":7,"ts":{2},"dur":{4},"args":{{"device":0,)"
                       R"("stream":{1},"correlation":{1}}}}})",
                       category, id, ts, ts, dur);
  };
  auto loaded = load_trace(folder.write("t.json", "{\"traceEvents\":[" + gpu("kernel", 1, 0, 10) +
                                                      "," + gpu("gpu_memset", 2, 5, 15) + "," +
                                                      gpu("gpu_memcpy", 3, 30, 4) + "]}"),
                           {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  ReportOptions options;
  const auto ns = [&](TimeKind kind) {
    return time_of(loaded->shared(TimelineKey{options}), kind);
  };
  EXPECT_EQ(ns(TimeKind::kComputation), 20'000);
  EXPECT_EQ(ns(TimeKind::kExposedMemcpy), 4'000);
  options.memset_as_memory = true;
  EXPECT_EQ(ns(TimeKind::kComputation), 10'000);
  EXPECT_EQ(ns(TimeKind::kExposedMemcpy), 14'000);
  EXPECT_EQ(ns(TimeKind::kTotalMemcpy), 19'000);
  EXPECT_EQ(ns(TimeKind::kBusy), 24'000);
}

TEST(ReportFacts, OfEachStep) {
  const LoadedTrace t = two_steps_report_facts();
  const ReportOptions options;
  const std::vector<StepTimeline>& timelines = t.shared(StepTimelinesKey{options});
  ASSERT_EQ(timelines.size(), 2U);
  EXPECT_EQ(timelines[0].step, 3);
  EXPECT_EQ(time_of(timelines[0].rows, TimeKind::kComputation), 10'000);
  EXPECT_EQ(timelines[1].step, 4);
  EXPECT_EQ(time_of(timelines[1].rows, TimeKind::kComputation), 25'000);
  EXPECT_EQ(time_of(timelines[1].rows, TimeKind::kTotal), 35'000);
  const std::vector<StepOps>& ops = t.shared(StepOpsKey{options});
  ASSERT_EQ(ops.size(), 2U);
  ASSERT_EQ(ops[1].rows.size(), 2U);
  EXPECT_EQ(ops[1].rows[0].name, "aten::mm");
  EXPECT_EQ(ops[1].rows[0].direct_ns, 20'000);
  EXPECT_DOUBLE_EQ(ops[1].rows[0].percent, 80);
  EXPECT_EQ(ops[1].rows[1].name, "aten::copy_");
  EXPECT_DOUBLE_EQ(ops[1].rows[1].cumulative_percent, 100);
}

TEST(ReportFacts, AreMadeOncePerOptions) {
  const LoadedTrace t = two_steps_report_facts();
  const ReportOptions plain;
  ReportOptions split;
  split.micro_idle_us = 200;
  EXPECT_EQ(&t.shared(StepTimelinesKey{plain}), &t.shared(StepTimelinesKey{plain}));
  EXPECT_EQ(t.shared(StepTimelinesKey{plain})[0].rows.size(), 8U);
  EXPECT_EQ(t.shared(StepTimelinesKey{split})[0].rows.size(), 9U);
  ReportOptions arch;
  arch.gpu_arch = "MI300X";
  ASSERT_TRUE(t.shared(FamiliesKey{plain}) && t.shared(FamiliesKey{arch}));
  EXPECT_FALSE(t.shared(FamiliesKey{plain})->sheets.front().arch);
  EXPECT_TRUE(t.shared(FamiliesKey{arch})->sheets.front().arch);
  arch.gpu_arch = "no such board";
  EXPECT_FALSE(t.shared(FamiliesKey{arch}));
  EXPECT_EQ(&t.shared(OpsSummaryKey{plain}),
            &t.shared(OpsSummaryKey{split})); // does not depend on idle time
}

TEST(ReportFacts, OfAFamily) {
  const LoadedTrace t = two_steps_report_facts();
  const auto& sheets = t.shared(FamiliesKey{});
  ASSERT_TRUE(sheets);
  EXPECT_EQ(find_family(sheets->sheets, "SDPA_fwd"), nullptr);
  const FamilySheet* const gemm = find_family(sheets->sheets, "GEMM");
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

// The reference gives all calls to the kernels of the first one.
TEST(ReportFacts, EachKernelOfAnOperatorHasItsOwnCalls) {
  TraceBuilder b;
  b.op("aten::mm", 0, 20, kMm).kernel("small", 1, 100, 10);
  b.op("aten::mm", 20, 20, kMm).kernel("large", 21, 200, 40);
  b.op("aten::mm", 40, 20, kMm).kernel("large", 41, 300, 60).kernel("reduce", 43, 400, 1);
  const LoadedTrace t = b.load();
  const auto count_of = [](const std::string& details, const std::string& kernel) {
    const std::size_t at = details.find("'" + kernel + "'");
    const std::string_view count = "'count': ";
    return at == std::string::npos ? 0 : details[details.find(count, at) + count.size()] - '0';
  };
  UniqueArgsKey key;
  const auto& rows = t.shared(key);
  ASSERT_EQ(rows.size(), 1U);
  const auto& unified = t.shared(UnifiedPerfKey{});
  ASSERT_TRUE(unified);
  const auto& families = t.shared(FamiliesKey{});
  ASSERT_TRUE(families);
  for (const KernelDetails& details :
       {rows[0].details, unified->rows.at(0).details, families->sheets.at(0).rows.at(0).details}) {
    EXPECT_EQ(count_of(details.summary, "small"), 1) << details.summary;
    EXPECT_EQ(count_of(details.summary, "large"), 2) << details.summary;
    EXPECT_EQ(count_of(details.summary, "reduce"), 1) << details.summary;
    EXPECT_NE(details.summary.find("'total_duration_us': 100.0"), std::string::npos)
        << details.summary;
    EXPECT_EQ(details.kernels.size(), 1U); // those of the first call
  }
  key.launchers.compat = true;
  const std::string reference = t.shared(key).at(0).details.summary;
  EXPECT_EQ(count_of(reference, "small"), 2) << reference;
  EXPECT_EQ(count_of(reference, "large"), 0) << reference;
}

// As doubles in microseconds, 0.1 + 0.2 is more than 0.3. In nanoseconds, both are 300.
TEST(ReportFacts, KernelsOfEqualTimeStayInOrderOfAppearance) {
  TraceBuilder b;
  b.op("z", 0, 20, kMm).kernel("z1", 1, 1000, .1).kernel("b", 3, 1001, .3);
  b.op("z", 20, 20, kMm).kernel("z1", 21, 1002, .2).kernel("a", 23, 1003, .3);
  const LoadedTrace t = b.load();
  const std::vector<KernelRow>& kernels = t.shared(KernelRowsKey{});
  ASSERT_EQ(kernels.size(), 3U);
  // 0.1 + 0.2 is exactly 0.3, because it is not a sum of doubles
  EXPECT_EQ(kernels[0].kernel, "z1");
  EXPECT_EQ(kernels[1].kernel, "b");
  EXPECT_EQ(kernels[2].kernel, "a");
}

TEST(ReportFacts, EqualTimesFallToTheTieBreak) {
  TraceBuilder b;
  b.op("z", 0, 20, kMm).kernel("z1", 1, 1000, .1).kernel("z2", 3, 1001, .2);
  b.op("z", 20, 20, kMm).kernel("z1", 21, 1002, .2).kernel("z2", 23, 1003, .1);
  b.op("a", 40, 20, kMm).kernel("a1", 41, 1004, .3).kernel("a2", 43, 1005, .3);
  const LoadedTrace t = b.load();
  const std::vector<OpsSummaryRow>& ops = t.shared(OpsSummaryKey{});
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].name, "a"); // sorted by name
  EXPECT_EQ(ops[0].direct_ns, ops[1].direct_ns);
  EXPECT_EQ(ops[0].percent, 50);
  EXPECT_EQ(ops[1].cumulative_percent, 100);
  const std::vector<UniqueArgsRow>& unique = t.shared(UniqueArgsKey({}, false));
  ASSERT_EQ(unique.size(), 2U);
  EXPECT_EQ(unique[0].op.name, "z"); // in the order of the file
  EXPECT_EQ(unique[0].direct_us.sum, unique[1].direct_us.sum);
  // kernels of a call with equal sums are sorted by name: z1 has 0.1 + 0.2, z2 has 0.2 + 0.1
  EXPECT_LT(unique[0].details.summary.find("z1"), unique[0].details.summary.find("z2"));
  const auto& unified = t.shared(UnifiedPerfKey{});
  ASSERT_TRUE(unified);
  ASSERT_EQ(unified->rows.size(), 2U);
  EXPECT_EQ(unified->rows[0].op.name, "z"); // in the order of the file
}

TEST(ReportFacts, KernelsOfEqualTimeStandAsTheyFirstRan) {
  TraceBuilder b;
  b.op("x", 0, 50);
  for (const char* name : {"m", "z", "a"})
    b.kernel(name, 1 + (name[0] - 'a'), 1000 + (name[0] - 'a'), 1);
  b.kernel("long", 40, 2000, 2);
  const LoadedTrace t = b.load();
  std::vector<std::string_view> names;
  for (const KernelRow& row : t.shared(KernelRowsKey{}))
    names.push_back(row.kernel);
  EXPECT_EQ(names, (std::vector<std::string_view>{"long", "m", "z", "a"}));
}

// 1,000 times 0.1 us is exactly 100 us; a sum of doubles is 99.9999999999986.
TEST(ReportFacts, SumsAreExact) {
  const Stats s = stats_of_ns(std::vector<std::int64_t>(1000, 100));
  EXPECT_EQ(s.sum, 100);
  EXPECT_EQ(s.mean, .1);
  EXPECT_EQ(s.median, .1);
  EXPECT_EQ(stats_of_ns({2159, 2159, 2159}).std_population, 0); // 3 x 2.159 us
  EXPECT_EQ(stats_of_ns({1, 2}).median, .0015);
  EXPECT_EQ(stats_of_ns({7}).min, .007);
  EXPECT_TRUE(std::isnan(stats_of_ns({7}).std_sample));
  EXPECT_TRUE(std::isnan(stats_of_ns({}).mean));
}

} // namespace
} // namespace rankscope
