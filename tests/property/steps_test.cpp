// Reports restricted to profiler steps: the parts add up to the whole.
#include "analyses/analysis.h"
#include "analyses/timeline/per_step.h"
#include "core/steps.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

TEST(Steps, PartsAddUpToTheWhole) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 2;
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
    ReportOptions one;
    one.step = std::to_string(s.number);
    auto report = build_report(*loaded, one);
    ASSERT_TRUE(report) << report.error().message();
    const Table* ops = report->find("ops_summary");
    ASSERT_NE(ops, nullptr);
    for (std::size_t r = 0; r < ops->rows(); ++r)
      counts[std::string(ops->at(r, "name").text)] += ops->at(r, "Count").i;
  }
  EXPECT_EQ(gpu, loaded->tree.gpu_event_count());
  EXPECT_EQ(collectives, loaded->trace.collectives.size());
  const auto whole = build_report(*loaded, ReportOptions{});
  const Table* ops = whole->find("ops_summary");
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

TEST(Steps, TimesOfOnePassAreThoseOfEachPart) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 2;
  o.layers = 3;
  o.steps = 4;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  auto loaded = load_trace(
      folder.path("256thread/nccl_28channels/torch_profiler/rank1/trace_step19.json"), {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  for (const bool unlinked : {false, true}) {
    ReportOptions options;
    options.include_unlinked_kernels = unlinked;
    const auto fast = step_times_of(*loaded, options);
    const auto& slow = timeline_per_step_of(*loaded, options);
    ASSERT_EQ(fast.size(), slow.size());
    for (std::size_t s = 0; s < fast.size(); ++s) {
      EXPECT_EQ(fast[s].step, slow[s].step);
      for (const TimelineRow& row : slow[s].rows)
        EXPECT_EQ(fast[s].ns[static_cast<std::size_t>(row.kind)], row.time_ns)
            << time_kind_name(row.kind);
    }
  }
}

} // namespace
} // namespace rankscope
