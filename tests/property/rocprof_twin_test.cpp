// Writes one generated run as Kineto JSON and in the database and table formats of AMD's tools.
// Data that two formats contain must be the same in every analysis, to the nanosecond.
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
        // a fill, which is not a kernel in Kineto
        t.trace.name(i) != "__amd_rocclr_fillBufferAligned") {
      Sums& sums = out[std::string(t.trace.name(i))];
      ++sums.count;
      sums.ns += t.trace.events.dur_ns[i];
    }
  return out;
}

/// Kind, data type, elements in and out: count, duration, duration that is not hidden.
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
  for (const TimelineRow& row : t.shared(TimelineKey{}))
    out[row.kind] = static_cast<std::int64_t>(row.time_ns);
  return out;
}

struct Counterpart {
  synth::TraceFormat format;
  const char* reader;
  int process_groups;
  bool tells_rank, tells_collectives, tells_sizes;
};

void PrintTo(const Counterpart& t, std::ostream* out) {
  *out << t.reader << ", " << t.process_groups << " group(s)";
}

class RocprofTwin : public testing::TestWithParam<Counterpart> {
protected:
  /// Reads the four ranks of the run from the written files.
  static void load(synth::TraceFormat format, std::vector<LoadedTrace>& out) {
    synth::Options options;
    options.threads = {256};
    options.channels = {28};
    options.ranks = 4;
    options.layers = 2;
    options.process_groups = GetParam().process_groups;
    options.gpus_per_node = 2;
    options.fewer_steps = 1;
    options.format = format;
    const test::TempFolder folder;
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
      if (format == synth::TraceFormat::kKineto || GetParam().tells_rank) {
        EXPECT_EQ(loaded->rank, file.rank);
      }
      EXPECT_TRUE(loaded->trace.diagnostics.empty());
      out.push_back(std::move(*loaded));
    }
  }
};

TEST_P(RocprofTwin, SameRunSameFacts) {
  std::vector<LoadedTrace> references;
  std::vector<LoadedTrace> counterparts;
  load(synth::TraceFormat::kKineto, references);
  load(GetParam().format, counterparts);
  ASSERT_EQ(references.size(), 4U);
  ASSERT_EQ(counterparts.size(), 4U);
  for (std::size_t r = 0; r < 4; ++r) {
    SCOPED_TRACE(r);
    const LoadedTrace& kineto = references[r];
    const LoadedTrace& counterpart = counterparts[r];
    EXPECT_EQ(counterpart.trace.sources[0].reader, GetParam().reader);
    if (GetParam().tells_rank) {
      EXPECT_EQ(counterpart.trace.header.world_size, 4);
    }
    EXPECT_EQ(counterpart.tree.linked_count(), counterpart.tree.gpu_event_count());
    EXPECT_EQ(counterpart.tree.gpu_event_count(), kineto.tree.gpu_event_count());
    const auto times = timeline(kineto);
    EXPECT_GT(times.at(TimeKind::kTotal), 0);
    EXPECT_EQ(timeline(counterpart), times);
    EXPECT_FALSE(kernels(kineto, true).empty());
    EXPECT_EQ(kernels(counterpart, true), kernels(kineto, true));
    EXPECT_EQ(kernels(counterpart, false), kernels(kineto, false));
    if (GetParam().tells_collectives) {
      const bool sizes = GetParam().tells_sizes;
      EXPECT_FALSE(collectives(kineto, sizes).empty());
      EXPECT_EQ(collectives(counterpart, sizes), collectives(kineto, sizes));
    }
    const auto steps = profiler_steps(kineto.trace);
    const auto counterpart_steps = profiler_steps(counterpart.trace);
    EXPECT_FALSE(steps.empty());
    ASSERT_EQ(counterpart_steps.size(), steps.size());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      EXPECT_EQ(counterpart_steps[s].number, steps[s].number);
      EXPECT_EQ(counterpart_steps[s].end_ns - counterpart_steps[s].start_ns,
                steps[s].end_ns - steps[s].start_ns);
    }
  }
}

// In runs of two groups, ncclCommInitRank is missing, so the number of ranks of a communicator is
// unknown. CSV has no arguments of calls, and RPD has no RCCL calls.
INSTANTIATE_TEST_SUITE_P(
    Formats, RocprofTwin,
    testing::Values(
        Counterpart{synth::TraceFormat::kRocpd, "rocpd", 1, true, true, true},
        Counterpart{synth::TraceFormat::kRocpd, "rocpd", 2, true, true, false},
        Counterpart{synth::TraceFormat::kRocprofJson, "rocprofv3-json", 1, false, true, true},
        Counterpart{synth::TraceFormat::kRocprofJson, "rocprofv3-json", 2, false, true, false},
        Counterpart{synth::TraceFormat::kRocprofCsv, "rocprofv3-csv", 1, false, false, false},
        Counterpart{synth::TraceFormat::kRocprofCsv, "rocprofv3-csv", 2, false, false, false},
        Counterpart{synth::TraceFormat::kRpd, "rpd", 1, false, false, false},
        Counterpart{synth::TraceFormat::kRpd, "rpd", 2, false, false, false}));

} // namespace
} // namespace rankscope
