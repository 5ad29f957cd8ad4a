// Tests self times of GPU events with hand-calculated values. tests/property compares them with a
// slow implementation.
#include "analyses/compare/step_work.h"
#include "analyses/timeline/own_times.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::int64_t kUs = 1000;

/// Returns a trace of two steps. The first step has two kernels that overlap, a collective that
/// ends after them, a copy that is overlapped completely, and a copy after a gap.
test::TraceBuilder two_steps() {
  test::TraceBuilder t;
  t.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
  t.op("aten::mm", 1, 10, R"({"Input Dims":[[8,4],[4,2]]})").kernel("gemm", 2, 10, 10, 7);
  t.op("aten::add", 12, 10).kernel("add", 13, 14, 8, 8); // 14-22, overlaps 10-20
  t.op("c10d::all", 23, 5).kernel("ncclDevKernel_AllReduce", 24, 18, 12, 9); // 18-30
  t.copy("Memcpy HtoD", 29, 12, 6);                                          // 12-18, hidden
  t.copy("Memcpy DtoH", 31, 35, 5);                                          // 35-40
  t.op("aten::mm", 101, 10, R"({"Input Dims":[[8,4],[4,2]]})").kernel("gemm", 102, 110, 7, 7);
  return t;
}

TEST(OwnTimes, EachInstantCountsOnce) {
  const test::TempFolder folder;
  auto trace = load_trace(folder.write("t.json", two_steps().text()), LoadOptions{});
  ASSERT_TRUE(trace);
  const SelfTimes times = self_times_of(*trace, {});
  EXPECT_FALSE(times.without_steps);
  ASSERT_EQ(times.steps.size(), 2U);
  const StepSelfTimes& first = times.steps[0];
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.total_ns, 30 * kUs); // 10-40
  // 30-35: the copy is launched at 31
  EXPECT_EQ(first.idle_ns, (IdleByCause{1 * kUs, 0, 4 * kUs, 0, 0}));
  std::map<std::string, std::int64_t> self_us;
  for (const SelfTime& event : first.events)
    self_us[std::string(trace->trace.name(event.event))] = event.ns / kUs;
  EXPECT_EQ(self_us, (std::map<std::string, std::int64_t>{{"gemm", 10},
                                                          {"add", 2},
                                                          {"ncclDevKernel_AllReduce", 8},
                                                          {"Memcpy HtoD", 0},
                                                          {"Memcpy DtoH", 5}}));
  EXPECT_EQ(times.steps[1].total_ns, 7 * kUs);
  EXPECT_EQ(times.steps[1].idle_ns, IdleByCause{});

  const StepWork work = step_work_of(*trace, {});
  EXPECT_EQ(work.steps, (std::vector<std::int64_t>{1, 2}));
  const Work& gemm = work.work.at({StepWorkKind::kKernel, "aten::mm", "8x4 4x2", "gemm"});
  EXPECT_EQ(gemm.self_ns, (std::vector<std::int64_t>{10 * kUs, 7 * kUs}));
  EXPECT_EQ(gemm.launches, 1);
  EXPECT_EQ(gemm.place, 0); // the first in both steps
  EXPECT_EQ(work.work.at({StepWorkKind::kIdle, "", "", "host"}).self_ns,
            (std::vector<std::int64_t>{1 * kUs, 0}));
  EXPECT_EQ(work.work.at({StepWorkKind::kIdle, "", "", "launch"}).self_ns,
            (std::vector<std::int64_t>{4 * kUs, 0}));
  EXPECT_EQ(with_joined_idle(work).work.at(kJoinedIdle).self_ns,
            (std::vector<std::int64_t>{5 * kUs, 0}));
}

// The idle time before a step has the causes of its gaps; before the first of three steps it is the
// median of the others, with their causes.
TEST(OwnTimes, IdleTimeBetweenStepsHasItsCauses) {
  test::TraceBuilder t;
  for (const int step : {0, 1, 2}) {
    t.annotation("ProfilerStep#" + std::to_string(step), 100 * step, 100);
    t.op("aten::mm", 100 * step + 10, 10).kernel("gemm", 100 * step + 12, 100 * step + 20, 50, 7);
  }
  const LoadedTrace trace = t.load();
  const SelfTimes times = self_times_of(trace, {});
  ASSERT_EQ(times.steps.size(), 3U);
  for (const StepSelfTimes& step : times.steps) {
    EXPECT_EQ(step.total_ns, 100 * kUs);
    // 70-120: launched at 112
    EXPECT_EQ(step.idle_ns, (IdleByCause{42 * kUs, 0, 8 * kUs, 0, 0})) << step.step;
  }
}

// Work of another step runs in the gap of a step, so the GPU is not idle there.
TEST(OwnTimes, TimeOfOtherStepsIsOfUnknownCause) {
  test::TraceBuilder t;
  t.annotation("ProfilerStep#0", 0, 100).annotation("ProfilerStep#1", 100, 100);
  t.op("aten::mm", 1, 10).kernel("gemm", 2, 10, 10, 7);
  t.op("aten::add", 12, 10).kernel("add", 13, 60, 10, 7);
  t.op("aten::mul", 101, 10).kernel("mul", 102, 30, 30, 8); // clocks that do not agree
  const LoadedTrace trace = t.load();
  const SelfTimes times = self_times_of(trace, {});
  ASSERT_EQ(times.steps.size(), 2U);
  EXPECT_EQ(times.steps[0].total_ns, 60 * kUs);
  EXPECT_EQ(times.steps[0].idle_ns[static_cast<std::size_t>(IdleCause::kUnknown)], 30 * kUs);
}

// The wait was assumed to be spread evenly over a collective that computation hides in part.
TEST(OwnTimes, AHiddenWaitIsNotPartOfTheOwnTime) {
  test::TraceBuilder early; // enters at 12 under computation; 22-30 is exposed
  early.op("aten::mm", 1, 5).kernel("gemm", 2, 2, 20, 7);
  early.op("c10d::all", 7, 5).kernel("ncclDevKernel_AllReduce", 8, 12, 18, 9);
  test::TraceBuilder late;
  late.op("aten::mm", 1, 5).kernel("gemm", 2, 2, 23, 7);
  late.op("c10d::all", 7, 5).kernel("ncclDevKernel_AllReduce", 8, 25, 5, 9);
  std::vector<StepWork> work;
  std::vector<RankCollectives> collectives;
  for (const test::TraceBuilder* rank : {&early, &late}) {
    LoadedTrace trace = rank->load();
    trace.rank = static_cast<std::int64_t>(work.size());
    work.push_back(step_work_of(trace, {}));
    collectives.push_back(extract_collectives(trace));
  }
  const auto facts = collective_facts(collectives, {});
  ASSERT_TRUE(facts);
  StepWork run = join_step_work(std::move(work));
  add_waits(run, *facts);
  ASSERT_TRUE(run.waits_known);
  const Work& reduce =
      run.work.at({StepWorkKind::kCollective, "c10d::all", "", "ncclDevKernel_AllReduce"});
  EXPECT_EQ(reduce.self_ns, (std::vector<std::int64_t>{13 * kUs}));
  EXPECT_EQ(reduce.wait_ns, (std::vector<std::int64_t>{3 * kUs})); // 22-25
  EXPECT_TRUE(reduce.kernels.empty());
}

TEST(OwnTimes, WithoutStepsTheWholeTraceIsOne) {
  test::TraceBuilder t;
  t.op("aten::mm", 1, 10).kernel("gemm", 2, 10, 10).kernel("gemm", 4, 25, 5);
  const test::TempFolder folder;
  auto trace = load_trace(folder.write("t.json", t.text()), LoadOptions{});
  ASSERT_TRUE(trace);
  const StepWork work = step_work_of(*trace, {});
  EXPECT_TRUE(work.without_steps);
  EXPECT_EQ(work.total_ns, (std::vector<std::int64_t>{20 * kUs}));
  EXPECT_EQ(work.work.size(), 2U);
}

} // namespace
} // namespace rankscope
