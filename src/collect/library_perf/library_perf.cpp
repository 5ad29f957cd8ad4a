#include "collect/library_perf/library_perf.h"

#include "base/statistics.h"
#include "collect/gemm/gemm_problem.h"
#include "collect/gemm/gemm_process.h"
#include "os/process.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace rankscope {
namespace {

void set_failed(PerfRow& row, const char* status, std::string detail) {
  row.status = status;
  row.detail = std::move(detail);
}

/// Runs the command once. Returns false and sets the row's status when it gave no time.
bool run_once(PerfRow& row, const std::vector<std::string>& argv, const LibraryPerfOptions& options,
              std::vector<double>& times) {
  ProcessSpec spec;
  spec.argv = argv;
  if (const auto chosen = options.programs.find(argv[0]); chosen != options.programs.end())
    spec.argv[0] = chosen->second;
  // logging would be part of the measured time
  spec.unset_env = logging_variables();
  spec.guarded = true; // ends processes that the program leaves running
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = options.timeout;
  spec.cancel = options.cancel;
  const auto end = run_process(std::move(spec));
  if (!end) {
    set_failed(row, end.error().code == ErrorCode::kMissingTool ? "missing" : "failed",
               end.error().message());
    return false;
  }
  const auto result = parse_bench_output(row.library, end->out);
  if (!end->ok() || !result) {
    const std::string said = last_line(end->err.empty() ? end->out : end->err);
    set_failed(row, end->cancelled ? "skipped" : "failed",
               fmt::format("{}{}{}", end->ok() ? "no time in its output" : end->describe(),
                           said.empty() ? "" : ": ", said));
    return false;
  }
  times.push_back(result->time_us);
  row.gflops = result->gflops;
  row.gbps = result->gbps;
  row.gpu_architecture = result->architecture;
  return true;
}

void set_times(PerfRow& row, const std::vector<double>& times, const LibraryPerfOptions& options) {
  const SampleStats stats = sample_stats(times);
  row.status = "ok";
  row.iters = options.bench.iters * times.size();
  row.time_us = stats.mean;
  if (times.size() > 1)
    row.time_us_stddev = std::sqrt(stats.variance);
}

/// Programs and libraries that earlier rows found to be missing.
struct Missing {
  std::set<std::string> programs;
  std::array<std::string, 2> libraries; ///< by GemmFamily: why they cannot be used, "" = unknown
};

std::string not_found(const std::string& program, const LibraryPerfOptions& options) {
  const auto chosen = options.programs.find(program);
  return chosen == options.programs.end() ? fmt::format("{} is not in PATH", program)
                                          : fmt::format("{} does not exist", chosen->second);
}

/// Measures with the bench program; without it, the row's status is "missing".
void measure_bench(PerfRow& row, const std::vector<std::string>& argv,
                   const LibraryPerfOptions& options, Missing& missing) {
  row.backend = argv[0];
  if (missing.programs.count(row.backend) > 0)
    set_failed(row, "missing", not_found(row.backend, options));
  std::vector<double> times;
  while (row.status.empty() && times.size() < options.repeats)
    if (!run_once(row, argv, options, times) && row.status == "missing")
      missing.programs.insert(row.backend);
  if (row.status.empty()) {
    set_times(row, times, options);
    if (!row.backend.ends_with("_perf")) // rccl-tests and nccl-tests have the same programs
      row.gpu_vendor = "AMD";            // the other programs belong to ROCm
  }
}

/// Measures with the libraries themselves, in a child process.
void measure_native(PerfRow& row, const TracedGemm& gemm, const LibraryPerfOptions& options,
                    Missing& missing) {
  std::string& known = missing.libraries[static_cast<std::size_t>(gemm.problem->family)];
  if (!known.empty())
    return set_failed(row, "missing", known);
  const GemmOutcome outcome = measure_gemm(*gemm.problem, native_options(options));
  row.gpu_vendor = outcome.vendor;
  row.gpu_architecture = outcome.architecture.empty() ? outcome.device : outcome.architecture;
  row.backend = outcome.backend;
  if (outcome.status != "ok") {
    if (outcome.status == "missing")
      known = outcome.detail;
    return set_failed(row, outcome.status.c_str(), outcome.detail);
  }
  set_times(row, outcome.times_us, options);
  row.gflops = gemm.problem->flops() / (*row.time_us * 1e3);
  row.gbps = gemm.problem->bytes() / (*row.time_us * 1e3);
  row.detail = gemm.note;
}

void measure_row(PerfRow& row, const LibraryPerfOptions& options, Missing& missing) {
  const BenchCommand command = bench_command(row.library, row.config, options.bench);
  const TracedGemm gemm = options.runner == PerfRunner::kBench
                              ? TracedGemm{std::nullopt, command.why, ""}
                              : gemm_of_trace(row.library, row.config);
  const bool bench = options.runner != PerfRunner::kNative && !command.argv.empty();
  if (!bench && !gemm.problem) {
    // a configuration that is not a product (a search, for example) gets the reason of
    // bench_command()
    const bool theirs = !command.status.empty() && (options.runner == PerfRunner::kBench ||
                                                    gemm.why == "no runner for this library");
    return set_failed(row, theirs ? command.status.c_str() : "unsupported",
                      theirs || gemm.why.empty() ? command.why : gemm.why);
  }
  if (options.cancel.cancelled())
    return set_failed(row, "skipped", "not measured, because the command was interrupted");
  if (bench)
    measure_bench(row, command.argv, options, missing);
  if (!gemm.problem || (bench && row.status != "missing"))
    return;
  const std::string program = row.detail;
  row.status.clear();
  row.detail.clear();
  measure_native(row, gemm, options, missing);
  if (row.status != "missing" || program.empty())
    return;
  row.detail = fmt::format("{}; natively: {}", program, row.detail);
  row.backend = command.argv[0];
}

} // namespace

GemmRunOptions native_options(const LibraryPerfOptions& options) {
  GemmRunOptions run;
  run.iters = options.bench.iters;
  run.warm_up = options.bench.warm_up;
  run.repeats = options.repeats;
  run.libraries = options.libraries;
  run.timeout = options.timeout;
  run.cancel = options.cancel;
  run.program = options.program;
  return run;
}

void measure_rows(std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                  const std::function<void(std::size_t, const PerfRow&)>& progress) {
  Missing missing;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    measure_row(rows[i], options, missing);
    progress(i + 1, rows[i]);
  }
}

} // namespace rankscope
