// Replays the configurations of a library trace with the libraries' bench programs.
#pragma once

#include "base/result.h"
#include "collect/library_perf/bench_program.h"
#include "collect/library_perf/perf_rows.h"
#include "os/tasks.h"

#include <chrono>
#include <functional>
#include <string>

namespace rankscope {

struct LibraryPerfOptions {
  BenchOptions bench;
  unsigned repeats = 3;                       ///< runs of each configuration
  std::chrono::milliseconds timeout{120'000}; ///< of one run
  CancelToken cancel;                         ///< rows not measured yet are "skipped"
};

/// Measures each row in place; the mean of the repeats and their standard deviation. A program that
/// is not in PATH is asked for once. `progress` is told each row that is done.
void measure_rows(std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                  const std::function<void(std::size_t done, const PerfRow&)>& progress);

} // namespace rankscope
