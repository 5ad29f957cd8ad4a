// Measurements of `rankscope library-perf` besides the table: one matrix product in this process,
// and all implementations of the products of a trace.
#pragma once

#include "cli/command.h"
#include "collect/library_perf/library_perf.h"

#include <string>
#include <vector>

namespace rankscope {

/// Measures the product that `text` describes, prints its progress and exits at once, so that the
/// exit handlers of a vendor's library do not affect the measurement.
[[noreturn]] void measure_one_gemm(const std::string& text, const LibraryPerfOptions& options);

/// Measures the matrix products of `rows` with each implementation and writes the table `path`.
/// Returns a summary line. Errors: kOutput.
Result<std::string> measure_with_all(Context& ctx, const LibraryPerfOptions& options,
                                     unsigned algorithms, const std::string& path,
                                     const std::vector<PerfRow>& rows);

} // namespace rankscope
