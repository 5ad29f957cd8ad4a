// Tests reports of single profiler steps: the parts add up to the report of all steps.
#include "analyses/analysis.h"
#include "analyses/timeline/per_step.h"
#include "base/interval_set.h"
#include "core/steps.h"
#include "core/trace_builder.h"
#include "engine/loader.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

TEST(Steps, PartsAddUpToTheWhole) {
  test::TempFolder folder;
  synth::Options o = test::small_sweep();
  o.layers = 3;
  o.steps = 3;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  auto loaded = load_trace(
      folder.path("256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json"), {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const auto steps = profiler_steps(loaded->trace);
  ASSERT_EQ(steps.size(), 3U);

  std::size_t gpu = 0;
  std::size_t collectives = 0;
  std::map<std::string, std::int64_t> counts;
  for (const ProfilerStep& s : steps) {
    auto part = restrict_to_steps(loaded->trace, loaded->tree, s.number, s.number);
    ASSERT_TRUE(part) << part.error().message();
    const CallTree tree = CallTree::build(*part);
    gpu += tree.gpu_event_count();
    EXPECT_EQ(tree.linked_count(), tree.gpu_event_count());
    collectives += part->collectives.size();
    for (const auto& [event, args] : part->collectives)
      EXPECT_EQ(part->collective_of(event), &args);
    ReportOptions single;
    single.step = std::to_string(s.number);
    auto report = build_report(*loaded, single);
    ASSERT_TRUE(report) << report.error().message();
    const Table* ops = report->find("ops_summary");
    ASSERT_NE(ops, nullptr);
    for (std::size_t r = 0; r < ops->rows(); ++r)
      counts[std::string(ops->at(r, "name").text)] += ops->at(r, "Count").i;
  }
  EXPECT_EQ(gpu, loaded->tree.gpu_event_count());
  EXPECT_EQ(collectives, loaded->trace.collectives.size());
  const auto full = build_report(*loaded, ReportOptions{});
  const Table* ops = full->find("ops_summary");
  for (std::size_t r = 0; r < ops->rows(); ++r)
    EXPECT_EQ(counts[std::string(ops->at(r, "name").text)], ops->at(r, "Count").i);

  ReportOptions all;
  all.per_step = true;
  const auto per_step = build_report(*loaded, all);
  ASSERT_NE(per_step->find("gpu_timeline_per_step"), nullptr);
  EXPECT_EQ(per_step->find("gpu_timeline_per_step")->rows(), 3U * 8U);
  ReportOptions absent;
  absent.step = "99";
  EXPECT_EQ(build_report(*loaded, absent).error().code, ErrorCode::kUsage);
  for (const char* bad : {"", "x", "3:1", "1:", "-1", "1:2:3"})
    EXPECT_FALSE(parse_steps(bad)) << bad;
  EXPECT_EQ(parse_steps("4:7")->second, 7);
}

/// Returns the first start and the last end of the GPU events that the timeline counts.
Interval window_of(const LoadedTrace& part, const ReportOptions& options) {
  Interval out{std::numeric_limits<std::int64_t>::max(), 0};
  for (const EventId i : part.shared(LaunchersKey{options}).gpu)
    if (part.tree.linked(i) || options.include_unlinked_kernels)
      out = {std::min(out.start, part.trace.events.ts_ns[i]),
             std::max(out.end, part.trace.end_ns(i))};
  return out;
}

/// Returns the idle time before the GPU work of each step that belongs to the step. It is unknown
/// before the first step with GPU work; then the step has none of it. If two are known, the others
/// are their median; one alone does not count.
std::vector<std::int64_t> idle_before(const std::vector<Interval>& windows) {
  std::map<std::size_t, std::int64_t> known;
  std::int64_t end = 0;
  for (std::size_t s = 0; s < windows.size(); ++s) {
    if (windows[s].end > 0 && end > 0)
      known[s] = std::max<std::int64_t>(0, windows[s].start - end);
    end = std::max(end, windows[s].end);
  }
  std::vector<std::int64_t> out(windows.size(), 0);
  if (known.size() < 2)
    return out;
  for (std::size_t s = 0; s < windows.size(); ++s)
    if (known.contains(s))
      out[s] = known[s];
    else if (known.size() == 2 && windows[s].end > 0)
      out[s] = (known.begin()->second + known.rbegin()->second) / 2;
  return out;
}

/// Compares with a slow implementation: each step is cut out of the trace, linked and analysed
/// separately.
void expect_parts(const LoadedTrace& trace, const ReportOptions& options) {
  const std::vector<StepTimeline>& timelines = trace.shared(StepTimelinesKey{options});
  const std::vector<StepOps>& ops = trace.shared(StepOpsKey{options});
  const auto steps = profiler_steps(trace.trace);
  ASSERT_EQ(timelines.size(), steps.size());
  ASSERT_EQ(ops.size(), steps.size());
  std::vector<Result<LoadedTrace>> parts;
  std::vector<Interval> windows;
  for (const ProfilerStep& step : steps) {
    parts.push_back(part_of_steps(trace, step.number, step.number, needs_python(options)));
    ASSERT_TRUE(parts.back()) << parts.back().error().message();
    windows.push_back(window_of(*parts.back(), options));
  }
  const std::vector<std::int64_t> idle = idle_before(windows);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    SCOPED_TRACE(steps[s].number);
    const auto& part = parts[s];
    EXPECT_EQ(timelines[s].step, steps[s].number);
    EXPECT_EQ(ops[s].step, steps[s].number);
    const std::vector<TimelineRow>& rows = part->shared(TimelineKey{options});
    ASSERT_EQ(timelines[s].rows.size(), rows.size());
    const auto more = options.detect_recompute ? 0.0 : static_cast<double>(idle[s]);
    const auto total_row = std::ranges::find(rows, TimeKind::kTotal, &TimelineRow::kind);
    const double total = total_row->time_ns + more;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_EQ(timelines[s].rows[r].kind, rows[r].kind);
      const bool idles = rows[r].kind == TimeKind::kIdle || rows[r].kind == TimeKind::kTotal;
      const double ns = rows[r].time_ns + (idles ? more : 0);
      EXPECT_EQ(timelines[s].rows[r].time_ns, ns) << time_kind_name(rows[r].kind);
      EXPECT_DOUBLE_EQ(timelines[s].rows[r].percent, options.detect_recompute
                                                         ? rows[r].percent
                                                         : (total > 0 ? 100 * ns / total : 0));
      EXPECT_EQ(timelines[s].rows[r].recompute, rows[r].recompute);
    }
    const std::vector<OpsSummaryRow>& wanted = part->shared(OpsSummaryKey{options});
    ASSERT_EQ(ops[s].rows.size(), wanted.size());
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      const OpsSummaryRow& got = ops[s].rows[r];
      EXPECT_EQ(std::tie(got.name, got.recompute, got.count, got.direct_ns, got.subtree_ns,
                         got.categories, got.percent, got.cumulative_percent),
                std::tie(wanted[r].name, wanted[r].recompute, wanted[r].count, wanted[r].direct_ns,
                         wanted[r].subtree_ns, wanted[r].categories, wanted[r].percent,
                         wanted[r].cumulative_percent))
          << got.name << " against " << wanted[r].name;
    }
  }
}

TEST(Steps, TimesOfOnePassAreThoseOfEachPart) {
  test::TempFolder folder;
  synth::Options o = test::small_sweep();
  o.layers = 3;
  o.steps = 4;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  auto loaded = load_trace(
      folder.path("256thread/nccl_28channels/torch_profiler/rank1/trace_step19.json"), {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  for (const bool unlinked : {false, true}) {
    ReportOptions options;
    options.include_unlinked_kernels = unlinked;
    expect_parts(*loaded, options);
    const auto fast = step_times_of(*loaded, options);
    const auto& slow = loaded->shared(StepTimelinesKey{options});
    ASSERT_EQ(fast.size(), slow.size());
    for (std::size_t s = 0; s < fast.size(); ++s) {
      EXPECT_EQ(fast[s].step, slow[s].step);
      for (const TimelineRow& row : slow[s].rows)
        EXPECT_EQ(fast[s].ns[static_cast<std::size_t>(row.kind)], row.time_ns)
            << time_kind_name(row.kind);
    }
  }
}

TEST(Steps, WorkOverTheBoundaryOfStepsIsThatOfItsLaunch) {
  test::TraceBuilder t;
  t.annotation("ProfilerStep#4", 0, 100).annotation("ProfilerStep#5", 100, 100);
  t.annotation("ProfilerStep#6", 200, 100).annotation("ProfilerStep#7", 300, 100);
  t.op("aten::outer", 80, 50); // its second kernel is launched in the next step
  t.kernel("first", 85, 90, 20).kernel("second", 110, 115, 150);
  t.op("aten::mm", 140, 20).kernel("Cijk_third", 145, 270, 30);
  t.kernel("alone", 190, 320, 10);
  // outside the steps; step 6 has a call without an operator
  t.op("aten::cos", 450, 20).kernel("late", 455, 460, 10);
  t.kernel("bare", 250, 345, 5);
  ReportOptions options;
  const LoadedTrace loaded = t.load();
  expect_parts(loaded, options);
  const std::vector<StepOps>& ops = loaded.shared(StepOpsKey{options});
  ASSERT_EQ(ops.size(), 4U);
  ASSERT_EQ(ops[0].rows.size(), 1U);
  EXPECT_EQ(ops[0].rows[0].direct_ns, 20000);
  EXPECT_EQ(ops[0].rows[0].subtree_ns, 20000);
  ASSERT_EQ(ops[1].rows.size(), 2U); // the call of "second" together with that of "alone"; aten::mm
  EXPECT_EQ(ops[1].rows[0].name, "hipLaunchKernel");
  EXPECT_EQ(ops[1].rows[0].direct_ns, 160000);
  EXPECT_TRUE(ops[2].rows.empty());
  EXPECT_TRUE(ops[3].rows.empty());
}

// Three kernels from before the recording run while the host is in step 1; they were counted in it.
TEST(Steps, WorkFromBeforeTheRecordingBelongsToNoStep) {
  const LoadedTrace trace = test::TraceBuilder()
                                .annotation("ProfilerStep#1", 0, 100)
                                .annotation("ProfilerStep#2", 100, 100)
                                .unlaunched("early", 10, 90)
                                .unlaunched("early", 100, 50)
                                .kernel("first", 20, 150, 100)
                                .unlaunched("lost launch", 250, 40)
                                .kernel("second", 120, 290, 100)
                                .load();
  const StepsOfGpuWork steps(trace.trace, trace.tree);
  std::vector<std::int64_t> found;
  for (EventId e = 0; e < trace.trace.events.size(); ++e)
    if (is_gpu(trace.trace.events.category[e]))
      found.push_back(steps.of(trace.trace, trace.tree, e));
  EXPECT_EQ(found, (std::vector<std::int64_t>{-1, -1, 1, 1, 2}));
  TimelineKey key;
  key.launchers.unlinked = true;
  const std::vector<StepTimes> times = step_times_of(trace, key);
  ASSERT_EQ(times.size(), 2U);
  constexpr auto kComputation = static_cast<std::size_t>(TimeKind::kComputation);
  EXPECT_EQ(times[0].ns[kComputation], 140'000);
  EXPECT_EQ(times[1].ns[kComputation], 100'000);
  const auto part = restrict_to_steps(trace.trace, trace.tree, 1, 1);
  ASSERT_TRUE(part);
  EXPECT_EQ(std::ranges::count_if(part->events.category, is_gpu), 2);
}

TEST(Steps, RecomputedWorkOfEachStepIsItsOwnBlock) {
  test::TraceBuilder t;
  t.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
  t.op("aten::mm", 10, 10).kernel("a", 12, 20, 30);
  t.frame("torch/utils/checkpoint.py(1): recompute_fn", 110, 40);
  t.op("aten::mm", 120, 10).kernel("b", 122, 130, 30);
  ReportOptions options;
  options.detect_recompute = true;
  const LoadedTrace loaded = t.load(true);
  expect_parts(loaded, options);
  EXPECT_EQ(loaded.shared(StepTimelinesKey{options})[1].rows.back().recompute, true);
}

/// Returns `n` steps of one operator with one kernel each.
LoadedTrace many_steps(std::int64_t n) {
  TraceBuilder out("memory");
  Track cpu;
  cpu.pid = cpu.tid = 1;
  Track gpu;
  gpu.tid = 7;
  const std::uint32_t tracks[] = {out.track(cpu), out.track(gpu)};
  const auto add = [&](Category category, const std::string& name, std::int64_t ts,
                       std::int64_t dur, std::int64_t correlation) {
    EventRow event;
    event.category = category;
    event.name = out.text(name);
    event.ts_ns = ts;
    event.dur_ns = dur;
    event.uid = static_cast<std::uint32_t>(out.events());
    event.track = tracks[category == Category::kKernel ? 1 : 0];
    event.correlation = correlation;
    out.add(event);
  };
  for (std::int64_t s = 0; s < n; ++s) {
    const std::int64_t at = 1000 * s;
    add(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(s), at, 900, kNoId);
    add(Category::kCpuOp, "aten::add", at + 10, 100, kNoId);
    add(Category::kRuntime, "hipLaunchKernel", at + 20, 10, s + 1);
    add(Category::kKernel, "kernel", at + 200, 500, s + 1);
  }
  LoadedTrace loaded;
  loaded.trace = std::move(out).finish().value();
  loaded.tree = CallTree::build(loaded.trace);
  return loaded;
}

TEST(Steps, CostIsLinearInTheNumberOfSteps) {
  // CPU time of the analysis alone, minimum of three runs; if the trace were copied for each step,
  // 4n would take 16 times as long
  const auto seconds = [](std::int64_t n) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const LoadedTrace trace = many_steps(n);
      const std::clock_t from = std::clock();
      EXPECT_EQ(trace.shared(StepTimelinesKey{}).size(), static_cast<std::size_t>(n));
      EXPECT_EQ(trace.shared(StepOpsKey{}).back().rows.size(), 1U);
      best = std::min(best, static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC);
    }
    return best;
  };
  const double single = seconds(4000);
  const double two = seconds(8000);
  const double four = seconds(16000);
  std::printf("4,000 steps %.4f s, 8,000 %.4f s, 16,000 %.4f s\n", single, two, four);
  EXPECT_LT(four, 9 * single + 0.01);
}

} // namespace
} // namespace rankscope
