// rankscope library-perf [library_trace.csv]: how long each configuration of a trace takes here.
#include "cli/command.h"
#include "cli/help.h"
#include "collect/library_perf/library_perf.h"
#include "os/output_file.h"
#include "os/signals.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  std::string out;
  LibraryPerfOptions options;
  double timeout_s = 120;
};

Result<void> compare(Context& ctx, const Flags& f) {
  if (f.inputs.size() != 3)
    return Error{ErrorCode::kUsage, "library-perf compare", "takes two tables: A.csv B.csv", ""};
  remember_input(f.inputs[1]);
  remember_input(f.inputs[2]);
  const std::string out = f.out.empty() ? "library_perf_compare.csv" : f.out;
  RS_TRY(const PerfComparison c, compare_perf_tables(f.inputs[1], f.inputs[2], out));
  if (ctx.json)
    ctx.out(fmt::format("{{\"a_wins\": {}, \"b_wins\": {}, \"same\": {}, \"not_comparable\": {}, "
                        "\"a_total_us\": {:.6g}, \"b_total_us\": {:.6g}}}\n",
                        c.a_wins, c.b_wins, c.same, c.not_comparable, c.a_total_us, c.b_total_us));
  else
    ctx.out(fmt::format("A is faster in {}, B in {}, {} within 2 %, {} not on both sides\n"
                        "all calls of A: {:.3f} ms with A, {:.3f} ms with B\n{}\n",
                        c.a_wins, c.b_wins, c.same, c.not_comparable, c.a_total_us / 1e3,
                        c.b_total_us / 1e3, out));
  return {};
}

Result<void> measure(Context& ctx, Flags f) {
  if (f.inputs.size() > 1)
    return Error{ErrorCode::kUsage, "library-perf", "takes one library_trace.csv",
                 "compare A.csv B.csv compares two results"};
  const std::string in = f.inputs.empty() ? "library_trace.csv" : f.inputs[0];
  const std::string out = f.out.empty() ? "library_perf.csv" : f.out;
  remember_input(in);
  RS_TRY(std::vector<PerfRow> rows, read_trace_rows(in));
  const InterruptGrace grace(std::chrono::seconds(10)); // what was measured is written
  f.options.cancel = interrupt_token();
  f.options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(f.timeout_s * 1000));
  measure_rows(rows, f.options, [&](std::size_t done, const PerfRow& row) {
    ctx.note(fmt::format("{}/{} {}: {}{}", done, rows.size(), row.library, row.status,
                         row.time_us ? fmt::format(", {:.1f} us", *row.time_us) : ""));
  });
  std::map<std::string, std::size_t> by_status;
  for (const PerfRow& r : rows)
    ++by_status[r.status];
  std::string counts;
  for (const auto& [status, n] : by_status)
    counts += ctx.json ? fmt::format(", \"{}\": {}", status, n)
                       : fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, status);
  for (const PerfRow& r : rows)
    if (r.status == "failed" || r.status == "missing")
      ctx.diagnostics.add(Severity::kWarning, "library_perf_" + r.status, r.config.substr(0, 120),
                          r.detail);
  const std::size_t total = rows.size();
  RS_CHECK(write_perf_table(out, std::move(rows)));
  ctx.out(ctx.json ? fmt::format("{{\"configs\": {}{}}}\n", total, counts)
                   : fmt::format("{}: {}\n", out, counts.empty() ? "no configuration" : counts));
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("INPUTS", f->inputs, "library_trace.csv (the default), or: compare A.csv B.csv");
  app.add_option("-o,--output", f->out,
                 "the table (default library_perf.csv, library_perf_compare.csv)");
  in_group(app, "Measurement", [&] {
    app.add_option("--iters", f->options.bench.iters, "calls in a run")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    app.add_option("--warm-up", f->options.bench.warm_up, "calls before them")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}))
        ->capture_default_str();
    app.add_option("--repeats", f->options.repeats, "runs of each configuration")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str();
    app.add_option("--timeout", f->timeout_s, "seconds of one run")
        ->check(CLI::Range(0.1, 86400.0))
        ->capture_default_str();
    app.add_flag("--pin", f->options.bench.pin,
                 "hipBLASLt: the solution of the trace, not what would be chosen now");
  });
  return [f](Context& ctx) -> Result<void> {
    return !f->inputs.empty() && f->inputs[0] == "compare" ? compare(ctx, *f) : measure(ctx, *f);
  };
}

} // namespace

const Command library_perf_command{
    "library-perf", "replay the configurations of a library trace with the bench programs",
    "  rankscope library-perf library_trace.csv -o library_perf.csv\n"
    "  rankscope library-perf compare mi300.csv mi355.csv",
    setup};

} // namespace rankscope
