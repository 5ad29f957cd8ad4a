#include "collect/library_perf/library_perf.h"

#include "base/statistics.h"
#include "collect/library_trace/log_text.h"
#include "os/process.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

/// The last words that a program said.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  constexpr std::size_t kMost = 200;
  const std::size_t begin = text.rfind('\n');
  return std::string(
      trimmed(begin == std::string_view::npos ? text : text.substr(begin + 1)).substr(0, kMost));
}

void set_failed(PerfRow& row, const char* status, std::string detail) {
  row.status = status;
  row.detail = std::move(detail);
}

/// One run; false (and the row's status) when it gave no time.
bool run_once(PerfRow& row, const std::vector<std::string>& argv, const LibraryPerfOptions& options,
              std::vector<double>& times) {
  ProcessSpec spec;
  spec.argv = argv;
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

} // namespace

void measure_rows(std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                  const std::function<void(std::size_t, const PerfRow&)>& progress) {
  std::set<std::string> missing;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PerfRow& row = rows[i];
    const BenchCommand command = bench_command(row.library, row.config, options.bench);
    if (command.argv.empty()) {
      set_failed(row, command.status.c_str(), command.why);
    } else if (options.cancel.cancelled()) {
      set_failed(row, "skipped", "interrupted before it");
    } else {
      row.backend = command.argv[0];
      if (missing.count(row.backend) > 0)
        set_failed(row, "missing", fmt::format("{} is not in PATH", row.backend));
      std::vector<double> times;
      while (row.status.empty() && times.size() < options.repeats)
        if (!run_once(row, command.argv, options, times) && row.status == "missing")
          missing.insert(row.backend);
      if (row.status.empty()) {
        const SampleStats stats = sample_stats(times);
        row.status = "ok";
        row.gpu_vendor = "AMD"; // all of these programs are of ROCm
        row.iters = options.bench.iters * times.size();
        row.time_us = stats.mean;
        if (times.size() > 1)
          row.time_us_stddev = std::sqrt(stats.variance);
      }
    }
    progress(i + 1, row);
  }
}

} // namespace rankscope
