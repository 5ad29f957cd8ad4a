#include "collect/library_perf/library_perf.h"
#include "collect/replay/replay_run.h"

namespace rankscope {
namespace {

LibraryPerfOptions perf_options(const ReplayRunOptions& options) {
  LibraryPerfOptions out;
  out.runner = options.runner == ReplayRunner::kBench    ? PerfRunner::kBench
               : options.runner == ReplayRunner::kNative ? PerfRunner::kNative
                                                         : PerfRunner::kAuto;
  out.libraries = options.libraries;
  out.program = options.program;
  if (!options.hipblaslt_bench.empty())
    out.programs["hipblaslt-bench"] = options.hipblaslt_bench;
  if (!options.miopen_driver.empty())
    out.programs["MIOpenDriver"] = options.miopen_driver;
  out.bench.as_written = true; // run the commands of the command files unchanged
  out.bench.iters = out.bench.warm_up = 100;
  out.repeats = options.repeats;
  out.timeout = options.timeout;
  out.cancel = options.cancel;
  return out;
}

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

/// Returns the sum of the times of a call's rows, or why there is no time.
ReplayTime sum_of(std::span<const PerfRow> rows, const std::string& note) {
  ReplayTime out;
  double us = 0;
  for (const PerfRow& row : rows) {
    out.runner = row.backend;
    out.status = row.status;
    out.detail = row.detail;
    if (row.status != "ok" || !row.time_us)
      return out;
    us += *row.time_us;
  }
  out.us = us;
  out.detail = joined(note, out.detail);
  return out;
}

} // namespace

std::vector<ReplayTime> replay_benches(std::span<const ReplayCall> calls,
                                       const ReplayRunOptions& options,
                                       const ReplayProgress& progress) {
  std::vector<ReplayTime> out(calls.size());
  if (options.runner == ReplayRunner::kTorch || options.runner == ReplayRunner::kNone) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::string& why = calls[i].request->why;
      out[i].status = why.empty() ? "skipped" : "unsupported";
      out[i].detail = why.empty() ? "not asked for" : why;
    }
    return out;
  }
  std::vector<PerfRow> rows;
  std::vector<std::size_t> ends; // end of each call's rows
  for (const ReplayCall& call : calls) {
    for (const std::string& command : replay_commands(*call.request)) {
      PerfRow row;
      row.library = replay_library(*call.request);
      row.config = command;
      row.calls = 1;
      rows.push_back(std::move(row));
    }
    ends.push_back(rows.size());
  }
  std::size_t done = 0;
  const auto finish = [&](std::size_t measured) {
    for (; done < calls.size() && ends[done] <= measured; ++done) {
      const std::size_t begin = done == 0 ? 0 : ends[done - 1];
      const ReplayRequest& request = *calls[done].request;
      if (begin == ends[done])
        out[done] = {std::nullopt, "unsupported", request.why, ""};
      else if (options.runner == ReplayRunner::kNative && replay_library(request) == "miopen")
        out[done] = {std::nullopt, "unsupported", "only MIOpenDriver can run convolutions", ""};
      else
        out[done] = sum_of(std::span(rows).subspan(begin, ends[done] - begin), request.note);
      progress(done + 1, out[done]);
    }
  };
  finish(0);
  measure_rows(rows, perf_options(options),
               [&](std::size_t measured, const PerfRow&) { finish(measured); });
  return out;
}

} // namespace rankscope
