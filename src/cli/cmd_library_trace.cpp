// rankscope library-trace LOG... -o library_trace.csv: saved logs of GPU libraries as tables.
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "collect/library_trace/library_trace.h"
#include "os/byte_source.h"
#include "os/output_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <optional>

namespace rankscope {
namespace {

struct Flags {
  std::vector<std::string> logs;
  LibraryTraceOptions options;
  std::string others; ///< lines of no library
  bool no_detail = false;
};

std::string json_of(const LibraryTraceSummary& s, double seconds) {
  std::string counts, findings;
  for (const LibraryCount& c : s.counts)
    fmt::format_to(std::back_inserter(counts),
                   "{}{{\"library\": \"{}\", \"lines\": {}, \"calls\": {}, \"configs\": {}, "
                   "\"damaged\": {}}}",
                   counts.empty() ? "" : ", ", log_kind_name(c.kind), c.lines, c.calls, c.configs,
                   c.damaged);
  for (const std::string& f : s.findings)
    fmt::format_to(std::back_inserter(findings), "{}\"{}\"", findings.empty() ? "" : ", ",
                   json_escaped(f));
  return fmt::format("{{\"bytes\": {}, \"lines\": {}, \"long_lines\": {}, \"seconds\": {:.3f}, "
                     "\"libraries\": [{}], \"findings\": [{}]}}\n",
                     s.bytes, s.lines, s.long_lines, seconds, counts, findings);
}

std::string text_of(const LibraryTraceSummary& s, double seconds) {
  std::string out;
  const auto to = std::back_inserter(out);
  for (const LibraryCount& c : s.counts) {
    fmt::format_to(to, "{:<18} {:>12} calls of {} configurations in {} lines",
                   log_kind_name(c.kind), c.calls, c.configs, c.lines);
    out += c.damaged > 0 ? fmt::format(", {} damaged\n", c.damaged) : "\n";
  }
  if (s.counts.empty())
    out += "no line of a library that is known\n";
  fmt::format_to(to, "{} lines, {:.1f} MB, {:.2f} s ({:.0f} MB/s)\n", s.lines,
                 static_cast<double>(s.bytes) / 1e6, seconds,
                 static_cast<double>(s.bytes) / 1e6 / std::max(seconds, 1e-9));
  return out;
}

Result<void> read_log(LibraryTrace& trace, std::size_t stream, const std::string& path,
                      OutputFile* others, Context& ctx) {
  if (path != "-")
    remember_input(path);
  RS_TRY(const auto source, ByteSource::open(path));
  std::string buffer(std::size_t{1} << 20, '\0'), rest;
  std::string* const kept = others == nullptr ? nullptr : &rest;
  for (std::size_t n = source->read(buffer.data(), buffer.size()); n > 0;
       n = source->read(buffer.data(), buffer.size())) {
    trace.feed(stream, std::string_view(buffer).substr(0, n), {}, kept);
    if (others != nullptr)
      others->write(rest);
    rest.clear();
  }
  trace.end(stream, kept);
  if (others != nullptr)
    others->write(rest);
  if (!source->problem().empty())
    ctx.diagnostics.add_at(Severity::kDataLoss, "library_log_truncated", path,
                           "the log ends early: " + source->problem());
  return {};
}

Result<void> run(Context& ctx, const Flags& f) {
  LibraryTraceOptions options = f.options;
  if (!f.no_detail && options.csv != "-")
    options.detail_csv = options.csv.ends_with(".csv")
                             ? options.csv.substr(0, options.csv.size() - 4) + "_detail.csv"
                             : options.csv + "_detail.csv";
  std::optional<OutputFile> others;
  if (!f.others.empty()) {
    RS_TRY(OutputFile file, OutputFile::create(f.others));
    others.emplace(std::move(file));
  }
  LibraryTrace trace(options);
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < f.logs.size(); ++i)
    RS_CHECK(read_log(trace, i, f.logs[i], others ? &*others : nullptr, ctx));
  RS_TRY(const LibraryTraceSummary summary, trace.finish());
  if (others)
    RS_CHECK(others->commit());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const LibraryCount& c : summary.counts)
    if (c.damaged > 0)
      ctx.diagnostics.add_at(
          Severity::kWarning, "library_line_damaged", log_kind_name(c.kind),
          "lines are torn or unknown and not counted; the first: " + c.first_damaged, c.damaged);
  if (options.csv != "-")
    ctx.out(ctx.json ? json_of(summary, seconds) : text_of(summary, seconds));
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  f->options.csv = "library_trace.csv";
  app.add_option("LOGS", f->logs, "logs, plain, gzip or zstd; '-' is standard input")->required();
  in_group(app, "Output", [&] {
    app.add_option("-o,--output", f->options.csv,
                   "the table, '-' for standard output; NAME_detail.csv comes beside it")
        ->capture_default_str();
    app.add_flag("--no-detail", f->no_detail, "without the detailed table");
    app.add_option("--others", f->others, "the lines that belong to no library, into this file");
    app.add_flag("--crlf", f->options.crlf,
                 "line ends of the table as the older script wrote them");
  });
  in_group(app, "Columns", [&] {
    app.add_option("--model", f->options.model, "column model")->envname("MAD_MODEL_NAME");
    app.add_option("--job-id", f->options.job_id, "column jobid")
        ->envname("JENKINS_BUILD_NUMBER")
        ->capture_default_str();
    app.add_option("--max-configs", f->options.max_configs,
                   "configurations of a library in memory; more go through a temporary file")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}))
        ->capture_default_str();
  });
  return [f](Context& ctx) -> Result<void> { return run(ctx, *f); };
}

} // namespace

const Command library_trace_command{
    "library-trace", "logs of rocBLAS, hipBLASLt, MIOpen, Tensile, RCCL, cuBLAS... as tables",
    "  rankscope library-trace run.log -o library_trace.csv\n"
    "  rankscope library-trace rank*.log.gz --model llama --others rest.log",
    setup};

} // namespace rankscope
