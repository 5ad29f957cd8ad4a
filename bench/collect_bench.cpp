// Measures data collection: conversion of a library log to a table (MB/s), and a sampler tick.
#include "collect/library_trace/library_trace.h"
#include "collect/samplers/gpu_backend.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns a log. Of ten lines, three are from training, four are collectives and three are GEMMs.
std::string generated_log(std::size_t bytes) {
  std::string log;
  for (int i = 0; log.size() < bytes; ++i) {
    if (i % 10 < 3)
      log += fmt::format("[rank{}]: 2026-01-01 00:00:00 | INFO | iteration {} | elapsed time per "
                         "iteration (ms): 123.4 | lm loss 2.34\n",
                         i % 8, i);
    else if (i % 10 < 7)
      log +=
          fmt::format("n{}:5293{}:52937 [{}] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f8b{:x} "
                      "recvbuff 0x7f8b{:x} count {} datatype 6 op 0 root 0 comm 0xaef8a00 "
                      "[nranks=8] stream 0xac16b80 task 0 globalrank {}\n",
                      i % 8, i % 8, i % 8, i, i, i, 1 << (10 + i % 18), i % 8);
    else
      log +=
          fmt::format("[rank{}]: ./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m {} -n "
                      "512 -k 256 --alpha 1 --a_type bf16_r --lda 1024 --b_type bf16_r --ldb 512 "
                      "--beta 0 --c_type bf16_r --ldc 1024 --d_type bf16_r --ldd 1024 "
                      "--compute_type f32_r --algo 0 --solution_index 5 --flags 0 \n",
                      i % 8, 64 * (1 + i % 200));
  }
  return log;
}

/// Reads a log of this many MiB. The log is one block that is repeated, so that peak_rss_mb
/// measures the memory of the reader, not of the log.
void library_log(benchmark::State& state) {
  constexpr std::int64_t kBlock = 16;
  const std::string block = generated_log(std::size_t{kBlock} << 20);
  for (auto _ : state) {
    LibraryTrace trace({});
    for (std::int64_t i = 0; i < state.range(0) / kBlock; ++i)
      for (std::size_t at = 0; at < block.size(); at += 1 << 20)
        trace.feed(0, std::string_view(block).substr(at, 1 << 20));
    auto summary = trace.finish();
    benchmark::DoNotOptimize(summary);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) / kBlock *
                          static_cast<std::int64_t>(block.size()));
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}
// a log of 1 GiB: --benchmark_filter=library_log/1024
BENCHMARK(library_log)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void sampler_tick(benchmark::State& state) {
  std::string root = (fs::temp_directory_path() / "rankscope_bench_XXXXXX").string();
  if (::mkdtemp(root.data()) == nullptr)
    return state.SkipWithError("no temporary folder");
  for (int i = 0; i < 8; ++i) {
    const fs::path gpu = fs::path(root) / fmt::format("class/drm/renderD{}/device", 128 + i);
    fs::create_directories(gpu / "hwmon/hwmon1");
    for (const char* file :
         {"mem_info_vram_used", "mem_info_vram_total", "gpu_busy_percent", "mem_busy_percent",
          "hwmon/hwmon1/power1_average", "hwmon/hwmon1/temp1_input", "hwmon/hwmon1/freq1_input"})
      std::ofstream(gpu / file) << "123456789\n";
    std::ofstream(gpu / "vendor") << "0x1002\n";
  }
  const auto backend = open_sysfs_backend(root);
  for (auto _ : state)
    for (std::size_t i = 0; i < 8; ++i)
      benchmark::DoNotOptimize((*backend)->read(i));
  state.SetItemsProcessed(state.iterations() * 8);
  fs::remove_all(root);
}
BENCHMARK(sampler_tick)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace rankscope
