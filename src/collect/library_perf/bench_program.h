// The libraries' own bench programs: which one repeats a configuration, and how its output is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct BenchOptions {
  std::uint64_t iters = 50, warm_up = 10;
  bool pin = false;        ///< hipBLASLt: the solution of the trace, instead of what is chosen now
  bool as_written = false; ///< the lines' own counts and choice of algorithm: they are the command
};

/// How a row of library_trace.csv is measured, or why not.
struct BenchCommand {
  std::vector<std::string> argv; ///< empty: not measured
  std::string status;            ///< then: unsupported or skipped
  std::string why;
};
[[nodiscard]] BenchCommand bench_command(std::string_view library, std::string_view config,
                                         const BenchOptions& options);

struct BenchResult {
  double time_us = 0; ///< of one call
  std::optional<double> gflops, gbps;
  std::string architecture; ///< gfx942, where the program names it
};
/// Reads the output: rocblas-bench and hipblaslt-bench print a header with `us` and a row,
/// MIOpenDriver `stats:` rows or `Elapsed: <ms> ms`, rccl-tests a table. Empty without a time > 0.
[[nodiscard]] std::optional<BenchResult> parse_bench_output(std::string_view library,
                                                            std::string_view output);

} // namespace rankscope
