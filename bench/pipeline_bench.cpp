// Measures reader, call tree, report and single functions with a generated trace of about 30 MB.
#include "analyses/analysis.h"
#include "base/interval_set.h"
#include "engine/loader.h"
#include "synth/synth.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <random>

namespace rankscope {
namespace {

/// Returns the path of a trace of about 30 MB, which is generated at first use and removed at exit.
const std::string& trace_path() {
  struct Generated {
    std::string folder, file;
    Generated() {
      folder = (std::filesystem::temp_directory_path() / "rankscope_bench_XXXXXX").string();
      if (::mkdtemp(folder.data()) == nullptr)
        std::abort();
      synth::Options o;
      o.threads = {256};
      o.channels = {28};
      o.ranks = 1;
      o.events = 100000;
      if (!synth::generate(o, folder, 2, nullptr))
        std::abort();
      file = folder + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
    }
    ~Generated() { std::filesystem::remove_all(folder); }
  };
  static const Generated generated;
  return generated.file;
}

void count(benchmark::State& state, const Trace& trace) {
  const auto runs = static_cast<std::int64_t>(state.iterations());
  state.SetBytesProcessed(runs * static_cast<std::int64_t>(trace.input_bytes));
  state.SetItemsProcessed(runs * static_cast<std::int64_t>(trace.events_in_file));
}

void read_json(benchmark::State& state) {
  ReadOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  Trace last;
  for (auto _ : state) {
    auto trace = read_trace(trace_path(), options);
    last = std::move(trace.value());
  }
  count(state, last);
}
BENCHMARK(read_json)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void link(benchmark::State& state) {
  const auto trace = read_trace(trace_path());
  for (auto _ : state)
    benchmark::DoNotOptimize(CallTree::build(*trace));
  count(state, *trace);
}
BENCHMARK(link)->Unit(benchmark::kMillisecond);

void report_tables(benchmark::State& state) {
  auto loaded = load_trace(trace_path(), LoadOptions{});
  for (auto _ : state) {
    loaded->facts = {};
    benchmark::DoNotOptimize(build_report(*loaded, ReportOptions{}));
  }
  count(state, loaded->trace);
}
BENCHMARK(report_tables)->Unit(benchmark::kMillisecond);

void merge_intervals(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<Interval> intervals;
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t start = random() % 1000000000;
    intervals.push_back({start, start + static_cast<std::int64_t>(random() % 20000)});
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(IntervalSet(intervals).length());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 100000);
}
BENCHMARK(merge_intervals)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace rankscope
