#include "cli/library_logs.h"

#include "app/command_reports.h"
#include "base/counters.h"
#include "os/byte_source.h"
#include "os/output_file.h"
#include "readers/foreign_format.h"
#include "readers/rocprof/sqlite_file.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace rankscope {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{64} << 10U;

std::string text_of(const LibraryTraceSummary& s, double seconds) {
  std::string out;
  const auto to = std::back_inserter(out);
  for (const LibraryCount& c : s.counts) {
    fmt::format_to(to, "{:<18} {:>12} calls of {} configurations in {} lines",
                   log_kind_name(c.kind), c.calls, c.configs, c.lines);
    out += c.damaged > 0 ? fmt::format(", {} damaged\n", c.damaged) : "\n";
  }
  if (s.counts.empty())
    out += "no line of a known library\n";
  fmt::format_to(to, "{} lines, {:.1f} MB, {:.2f} s ({:.0f} MB/s)\n", s.lines,
                 static_cast<double>(s.bytes) / 1e6, seconds,
                 static_cast<double>(s.bytes) / 1e6 / std::max(seconds, 1e-9));
  return out;
}

Result<void> read_log(LibraryTrace& trace, std::size_t stream, const std::string& path,
                      OutputFile* others, Context& ctx) {
  RS_TRY(const auto source, ByteSource::open(path));
  const std::string_view head = source->peek(kHeadBytes);
  if (const ForeignFormat* const format = foreign_format(head, path))
    return refusal_of(*format, path);
  if (is_sqlite(head) || head.find("\"traceEvents\"") != std::string_view::npos)
    return Error{ErrorCode::kUnreadable, path, "a trace, not the log of a library",
                 "`rankscope top` reads traces"};
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
    ctx.diagnostics.add(counters::library_log_truncated(source->problem()), path);
  return {};
}

void print(Context& ctx, const LibraryTraceOptions& options, const LibraryTraceSummary& summary,
           double seconds) {
  if (!ctx.json)
    return ctx.out(text_of(summary, seconds));
  std::vector<std::string> tables = {options.csv};
  if (!options.detail_csv.empty())
    tables.push_back(options.detail_csv);
  ctx.report(library_trace_report(tables, summary, seconds));
}

} // namespace

Result<void> parse_library_logs(Context& ctx, const LibraryLogs& f) {
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
      ctx.diagnostics.add(counters::library_line_damaged(c.first_damaged), log_kind_name(c.kind),
                          c.damaged);
  if (options.csv != "-")
    print(ctx, options, summary, seconds);
  return {};
}

} // namespace rankscope
