// Replays the configurations of a library trace: with the libraries' bench programs, matrix
// products also by calls of the libraries themselves (collect/gemm).
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
  kAuto,   ///< the bench program; matrix products without one by the libraries
  kBench,  ///< bench programs alone
  kNative, ///< the libraries alone
};

struct LibraryPerfOptions {
  PerfRunner runner = PerfRunner::kAuto;
  std::string libraries; ///< folder of the vendor's libraries, "" = where the loader looks
  std::string program = "/proc/self/exe"; ///< rankscope, which measures products in its child
  /// Where a bench program is, by its name; others are looked up in PATH.
  std::map<std::string, std::string, std::less<>> programs;
  BenchOptions bench;
  unsigned repeats = 3;                       ///< runs of each configuration
  std::chrono::milliseconds timeout{120'000}; ///< of one run; natively of all repeats
  CancelToken cancel;                         ///< rows not measured yet are "skipped"
};

/// Returns the options for measurements with the libraries themselves.
[[nodiscard]] GemmRunOptions native_options(const LibraryPerfOptions& options);

/// Measures each row in place: mean and standard deviation of the repeats. A program that is not in
/// PATH is looked for once. `progress` gets each row that is done.
void measure_rows(std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                  const std::function<void(std::size_t done, const PerfRow&)>& progress);

} // namespace rankscope
