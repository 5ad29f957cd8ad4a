// rankscope library-perf [library_trace.csv]: measures each configuration of a trace on this
// machine.
#include "app/command_reports.h"
#include "base/counters.h"
#include "cli/command.h"
#include "cli/library_perf_measures.h"
#include "collect/library_perf/library_perf.h"
#include "os/signals.h"
#include "writers/writer.h"

#include <chrono>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace rankscope {
namespace {

struct LibraryPerfFlags {
  std::vector<std::string> inputs;
  std::string out;
  LibraryPerfOptions options;
  double timeout_s = 120;
  std::string runner = "auto";
  std::string implementations; ///< table of all implementations, "" = not measured
  unsigned algorithms = 4;
  std::string measure_gemm; ///< set in the process that measures one product
};

Result<void> compare(Context& ctx, const LibraryPerfFlags& f) {
  if (f.inputs.size() != 3)
    return Error{ErrorCode::kUsage, "library-perf compare", "takes two tables: A.csv B.csv", ""};
  const std::string out = f.out.empty() ? "library_perf_compare.csv" : f.out;
  RS_TRY(const PerfComparison c, compare_perf_tables(f.inputs[1], f.inputs[2], out));
  if (ctx.json)
    ctx.out(json_text(perf_comparison_report(out, c)));
  else
    ctx.out(fmt::format(
        "configurations: A is faster in {}, B in {}; {} differ by at most 2 %; {} lack a time in A "
        "or B\ntime of the configurations with both times, with the calls of A: {:.3f} ms in A, "
        "{:.3f} ms in B\n{}\n",
        c.a_wins, c.b_wins, c.same, c.not_comparable, c.a_total_us / 1e3, c.b_total_us / 1e3, out));
  return {};
}

Result<void> measure(Context& ctx, LibraryPerfFlags f) {
  if (f.inputs.size() > 1)
    return Error{ErrorCode::kUsage, "library-perf", "takes one library_trace.csv",
                 "to compare two results: rankscope library-perf compare A.csv B.csv"};
  const std::string in = f.inputs.empty() ? "library_trace.csv" : f.inputs[0];
  const std::string out = f.out.empty() ? "library_perf.csv" : f.out;
  RS_TRY(std::vector<PerfRow> rows, read_trace_rows(in));
  const InterruptGrace grace(std::chrono::seconds(10)); // time to write the finished measurements
  f.options.cancel = interrupt_token();
  f.options.runner = f.runner == "bench"    ? PerfRunner::kBench
                     : f.runner == "native" ? PerfRunner::kNative
                                            : PerfRunner::kAuto;
  f.options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(f.timeout_s * 1000));
  measure_rows(rows, f.options, [&](std::size_t done, const PerfRow& row) {
    ctx.note(fmt::format("{}/{} {}: {}{}", done, rows.size(), row.library, row.status,
                         row.time_us ? fmt::format(", {:.1f} \u00b5s", *row.time_us) : ""));
  });
  std::map<std::string, std::size_t> by_status;
  for (const PerfRow& r : rows)
    ++by_status[r.status];
  std::string counts;
  for (const auto& [status, n] : by_status)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, status);
  for (const PerfRow& r : rows)
    if (r.status == "failed" || r.status == "missing")
      ctx.diagnostics.add((r.status == "failed" ? counters::library_perf_failed
                                                : counters::library_perf_missing)(r.detail),
                          r.config.substr(0, 120));
  ctx.partial = ctx.partial || (!rows.empty() && by_status.count("ok") == 0);
  RS_TRY(const std::string compared,
         f.implementations.empty()
             ? Result<std::string>("")
             : measure_with_all(ctx, f.options, f.algorithms, f.implementations, rows));
  RS_CHECK(write_perf_table(out, std::move(rows)));
  if (ctx.json)
    ctx.report(library_perf_report(out, by_status));
  else
    ctx.out(fmt::format("{}: {}\n{}", out, counts.empty() ? "no configuration" : counts, compared));
  if (f.options.cancel.cancelled())
    return Error{ErrorCode::kInterrupted, out,
                 "interrupted; the table contains the finished measurements", ""};
  return {};
}

Action setup_library_perf(FlagSet& app) {
  auto f = std::make_shared<LibraryPerfFlags>();
  app.add_option("INPUTS", f->inputs, "library_trace.csv (default), or: compare A.csv B.csv");
  app.add(options::output, f->out,
          "table to write (default: library_perf.csv or library_perf_compare.csv)");
  in_group(app, "Measurement", [&] {
    app.add(options::iters, f->options.bench.iters, "calls per run")
        .range(1, 1'000'000)
        .capture_default_str();
    app.add_option("--warm-up", f->options.bench.warm_up, "warm-up calls per run")
        .range(0, 1'000'000)
        .capture_default_str();
    app.add(options::repeats, f->options.repeats, "runs per configuration")
        .range(1, 1000)
        .capture_default_str();
    app.add(options::timeout, f->timeout_s).range(0.1, 86400.0).capture_default_str();
    app.add_flag("--pin", f->options.bench.pin,
                 "hipBLASLt: use the solution recorded in the trace, not the solution that the "
                 "library would choose now");
    app.add(options::runner, f->runner,
            "bench: run the benchmark programs of the libraries; native: call the libraries "
            "(matrix products only); auto: bench, or native if the program is missing")
        .one_of({"auto", "bench", "native"})
        .capture_default_str();
    app.add_option("--implementations", f->implementations,
                   "also measure the matrix products with each library and algorithm; write the "
                   "times to this CSV file");
    app.add_option("--algorithms", f->algorithms,
                   "algorithms of cuBLASLt or hipBLASLt to measure with --implementations")
        .range(1, 100)
        .capture_default_str();
    app.add(options::libraries, f->options.libraries,
            "folder of cuBLAS, rocBLAS and similar (default: the loader's search path)")
        .type_name("DIR");
  });
  app.add_option("--measure-gemm", f->measure_gemm).group(""); // internal
  return [f](Context& ctx) -> Result<void> {
    if (!f->measure_gemm.empty())
      measure_one_gemm(f->measure_gemm, f->options);
    return !f->inputs.empty() && f->inputs[0] == "compare" ? compare(ctx, *f) : measure(ctx, *f);
  };
}

} // namespace

const Command library_perf_command{
    "library-perf", "run the configurations of a library trace again and time them",
    "  rankscope library-perf library_trace.csv -o library_perf.csv\n"
    "  rankscope library-perf compare mi300.csv mi355.csv",
    setup_library_perf};

} // namespace rankscope
