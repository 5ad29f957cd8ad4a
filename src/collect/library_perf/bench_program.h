// The libraries' own bench programs: commands that repeat a configuration, and readers of their
// output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct BenchOptions {
  std::uint64_t iters = 50, warm_up = 10;
  bool pin = false; ///< hipBLASLt: use the trace's solution, not the one chosen now
  /// Run the lines unchanged, with their own iteration counts and algorithm.
  bool as_written = false;
};

/// A command that measures a row of library_trace.csv, or the reason why the row is not measured.
struct BenchCommand {
  std::vector<std::string> argv; ///< empty: not measured
  std::string status;            ///< if not measured: unsupported or skipped
  std::string why;
};
[[nodiscard]] BenchCommand bench_command(std::string_view library, std::string_view config,
                                         const BenchOptions& options);

struct BenchResult {
  double time_us = 0; ///< time of one call
  std::optional<double> gflops, gbps;
  std::string architecture; ///< gfx942, if the program prints it
};
/// Reads the output. rocblas-bench and hipblaslt-bench print a header with `us` and a row,
/// MIOpenDriver prints `stats:` rows or `Elapsed: <ms> ms`, rccl-tests print a table. Empty if
/// there is no time > 0.
[[nodiscard]] std::optional<BenchResult> parse_bench_output(std::string_view library,
                                                            std::string_view output);

} // namespace rankscope
