// Replays the configurations of a library trace with the libraries' bench programs. Matrix products
// can also call the libraries directly (collect/gemm).
#pragma once

#include "base/result.h"
#include "collect/gemm/gemm_process.h"
#include "collect/library_perf/bench_program.h"
#include "collect/library_perf/perf_rows.h"
#include "os/tasks.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace rankscope {

enum class PerfRunner : std::uint8_t {
  kAuto,   ///< the bench program; if it is missing, matrix products call the libraries
  kBench,  ///< bench programs alone
  kNative, ///< the libraries alone
};

struct LibraryPerfOptions {
  PerfRunner runner = PerfRunner::kAuto;
  std::string libraries; ///< folder of the vendor's libraries, "" = where the loader looks
  std::string program = "/proc/self/exe"; ///< rankscope, started as a child that measures
  /// Paths of bench programs by name; other programs are searched for in PATH.
  std::map<std::string, std::string, std::less<>> programs;
  BenchOptions bench;
  unsigned repeats = 3;                       ///< runs of each configuration
  std::chrono::milliseconds timeout{120'000}; ///< limit for one run; for all repeats if native
  CancelToken cancel;                         ///< rows not measured yet are "skipped"
};

/// Returns the options for measurements with the libraries themselves.
[[nodiscard]] GemmRunOptions native_options(const LibraryPerfOptions& options);

/// Measures each row in place: mean and standard deviation of the repeats. A program that is not in
/// PATH is searched for only once. `progress` gets each finished row.
void measure_rows(std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                  const std::function<void(std::size_t done, const PerfRow&)>& progress);

} // namespace rankscope
