// One generated run written as Kineto JSON and as rocpd databases: what both formats hold is the
// same in every analysis, to the nanosecond.
#include "analyses/collectives/collective_data.h"
#include "analyses/timeline/gpu_timeline.h"
#include "core/steps.h"
#include "engine/loader.h"
#include "model/kernels.h"
#include "readers/discovery.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

struct Sums {
  std::int64_t count = 0, ns = 0;
  bool operator==(const Sums&) const = default;
};

using ByName = std::map<std::string, Sums>;

ByName kernels(const LoadedTrace& t, bool gemm) {
  ByName out;
  for (EventId i = 0; i < t.trace.events.size(); ++i)
    if (t.trace.events.category[i] == Category::kKernel &&
        is_gemm_kernel(t.trace.name(i)) == gemm &&
        t.trace.name(i) != "__amd_rocclr_fillBufferAligned") { // Kineto: no kernel, a fill
      Sums& sums = out[std::string(t.trace.name(i))];
      ++sums.count;
      sums.ns += t.trace.events.dur_ns[i];
    }
  return out;
}

/// Kind, data type, elements in and out: how many, how long, how long not hidden.
using Calls = std::map<std::tuple<CollectiveKind, std::string, std::int64_t, std::int64_t>,
                       std::array<std::int64_t, 3>>;

Calls collectives(const LoadedTrace& t, bool with_sizes) {
  const RankCollectives all = extract_collectives(t);
  Calls out;
  for (const Collective& c : all.rows) {
    EXPECT_EQ(c.name_from, Collective::NameFrom::kKernelArgs);
    auto& sums = out[{c.kind, std::string(all.texts.view(c.dtype)), with_sizes ? c.in_nelems : 0,
                      with_sizes ? c.out_nelems : 0}];
    ++sums[0];
    sums[1] += c.dur_ns;
    sums[2] += c.dur_ns - c.hidden_compute_ns - c.hidden_memcpy_ns;
  }
  return out;
}

std::map<TimeKind, std::int64_t> timeline(const LoadedTrace& t) {
  std::map<TimeKind, std::int64_t> out;
  for (const TimelineRow& row : timeline_of(t, {}))
    out[row.kind] = static_cast<std::int64_t>(row.time_ns);
  return out;
}

class RocpdTwin : public testing::TestWithParam<int> {};

TEST_P(RocpdTwin, SameRunSameFacts) {
  synth::Options options;
  options.threads = {256};
  options.channels = {28};
  options.ranks = 4;
  options.layers = 2;
  options.process_groups = GetParam();
  options.gpus_per_node = 2;
  options.fewer_steps = 1;
  std::map<bool, std::vector<LoadedTrace>> runs;
  for (const bool rocpd : {false, true}) {
    const test::TempFolder folder;
    options.rocpd = rocpd;
    const auto made = synth::generate(options, folder.path("sweep"), 1, [](const std::string&) {});
    ASSERT_TRUE(made) << made.error().message();
    Diagnostics diagnostics;
    const auto sweep = discover_sweep(folder.path("sweep"), {}, diagnostics);
    ASSERT_TRUE(sweep) << sweep.error().message();
    ASSERT_EQ(sweep->size(), 1U);
    EXPECT_EQ(sweep->front().configuration.label, "256thread_28ch");
    ASSERT_EQ(sweep->front().ranks.size(), 4U);
    EXPECT_TRUE(diagnostics.empty());
    for (const RankFile& file : sweep->front().ranks) {
      auto loaded = load_trace(file.path, {});
      ASSERT_TRUE(loaded) << loaded.error().message();
      EXPECT_EQ(loaded->rank, file.rank);
      EXPECT_TRUE(loaded->trace.diagnostics.empty());
      runs[rocpd].push_back(std::move(*loaded));
    }
  }
  for (std::size_t r = 0; r < 4; ++r) {
    SCOPED_TRACE(r);
    const LoadedTrace& kineto = runs[false][r];
    const LoadedTrace& rocpd = runs[true][r];
    EXPECT_EQ(rocpd.trace.sources[0].reader, "rocpd");
    EXPECT_EQ(rocpd.trace.header.world_size, 4);
    EXPECT_EQ(rocpd.tree.linked_count(), rocpd.tree.gpu_event_count());
    EXPECT_EQ(rocpd.tree.gpu_event_count(), kineto.tree.gpu_event_count());
    const auto times = timeline(kineto);
    EXPECT_GT(times.at(TimeKind::kTotal), 0);
    EXPECT_EQ(timeline(rocpd), times);
    EXPECT_FALSE(kernels(kineto, true).empty());
    EXPECT_EQ(kernels(rocpd, true), kernels(kineto, true));
    EXPECT_EQ(kernels(rocpd, false), kernels(kineto, false));
    // without ncclCommInitRank nobody tells how many ranks a communicator has
    EXPECT_EQ(collectives(rocpd, GetParam() == 1), collectives(kineto, GetParam() == 1));
    const auto steps = profiler_steps(kineto.trace);
    const auto own = profiler_steps(rocpd.trace);
    ASSERT_EQ(own.size(), steps.size());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      EXPECT_EQ(own[s].number, steps[s].number);
      EXPECT_EQ(own[s].end_ns - own[s].start_ns, steps[s].end_ns - steps[s].start_ns);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, RocpdTwin, testing::Values(1, 2));

} // namespace
} // namespace rankscope
