// Input: output of workloads and benchmark programs: performance values, lines of NCCL and RCCL,
// times of benchmark programs. A time that is found must be above 0, in complete and in truncated
// lines.
#include "collect/library_perf/bench_program.h"
#include "collect/log_metric.h"
#include "collect/nccl_log.h"
#include "collect/profile/perf_csv.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <string>

using namespace rankscope;

RS_FUZZ_TARGET(workload_log) {
  static const test::TempFolder folder;
  static const auto number = parse_log_metric("([-+0-9.eE]+)");
  if (!number.has_value())
    std::abort();
  const std::string path = folder.write("run.log", std::string(bytes));
  if (const auto mean = metric_of_log(path, *number); mean && std::isnan(*mean))
    std::abort();
  if (const auto metric = metric_of_run_log(path); metric && metric->performance.empty())
    std::abort();
  for (const char* library : {"rocblas", "hipblaslt", "miopen", "rccl"})
    if (const auto result = parse_bench_output(library, bytes); result && !(result->time_us > 0))
      std::abort();
  NcclFacts facts;
  facts.read_file(path);
  if (facts.warnings.size() > 8 || facts.ranks < 0)
    std::abort();
  (void)check_setting(facts, grid_settings({256}, {28}, true).front());
}
