#include "cli/library_perf_measures.h"

#include "collect/gemm/gemm_problem.h"
#include "collect/gemm/gemm_process.h"
#include "collect/library_perf/implementations.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <sys/resource.h>

namespace rankscope {

void measure_one_gemm(const std::string& text, const LibraryPerfOptions& options) {
  const auto tell = [](std::string_view line) {
    (void)std::fwrite(line.data(), 1, line.size(), stdout);
    (void)std::fflush(stdout);
  };
  const rlimit no_core = {0, 0}; // a crash is reported; it leaves no core file
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  const auto problem = gemm_from_text(text);
  if (!problem)
    std::_Exit(exit_code(ErrorCode::kUsage));
  measure_gemm_here(*problem, native_options(options), tell);
  std::_Exit(0);
}

Result<std::string> measure_with_all(Context& ctx, const LibraryPerfOptions& options,
                                     unsigned algorithms, const std::string& path,
                                     const std::vector<PerfRow>& rows) {
  const std::vector<ImplementationRow> measured =
      measure_implementations(rows, options, algorithms, [&ctx](const ImplementationRow& row) {
        ctx.note(fmt::format("{} with {}: {}{}", row.library, row.implementation, row.status,
                             row.time_us ? fmt::format(", {:.1f} \u00b5s", *row.time_us) : ""));
      });
  RS_TRY(const ImplementationSummary sum, write_implementations(path, measured, options.repeats));
  return fmt::format(
      "{}: {} of {} matrix products {} faster with another implementation; all calls take {:.3f} "
      "ms with the implementations that were called, {:.3f} ms with the fastest ones\n",
      path, sum.faster, sum.products, sum.faster == 1 ? "is" : "are", sum.called_us / 1e3,
      sum.best_us / 1e3);
}

} // namespace rankscope
