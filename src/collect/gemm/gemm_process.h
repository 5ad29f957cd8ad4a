// Measures a matrix product in a separate process: a vendor's library that crashes or hangs costs
// one measurement. All commands that measure products use these functions.
#pragma once

#include "collect/gemm/gemm_problem.h"
#include "os/tasks.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct GemmRunOptions {
  std::uint64_t iters = 50, warm_up = 10;
  unsigned repeats = 3;
  std::string libraries; ///< folder of the vendor's libraries, "" = where the loader looks
  std::chrono::milliseconds timeout{120'000}; ///< limit for the complete process
  CancelToken cancel;
  std::string program = "/proc/self/exe"; ///< rankscope
};

struct GemmOutcome {
  std::string status;           ///< ok, missing, unsupported, failed, skipped
  std::string detail;           ///< reason if the status is not ok
  std::vector<double> times_us; ///< time of one call, per repeat
  std::string vendor, device, architecture, backend;
};

/// Returns the environment variables that make the libraries log their calls.
[[nodiscard]] const std::vector<std::string>& logging_variables();

/// Starts `program library-perf --measure-gemm ...` and reads the outcome that it prints.
[[nodiscard]] GemmOutcome measure_gemm(const GemmProblem& problem, const GemmRunOptions& options);

/// Measures in the current process, the child of measure_gemm(). Passes each line of the outcome to
/// `tell` at once, so that a crash leaves the earlier lines. `tell` writes to standard output.
void measure_gemm_here(const GemmProblem& problem, const GemmRunOptions& options,
                       const std::function<void(std::string_view)>& tell);
/// Parses the lines of the outcome. Other lines are skipped, because libraries print too.
[[nodiscard]] GemmOutcome parse_gemm_outcome(std::string_view output);

} // namespace rankscope
