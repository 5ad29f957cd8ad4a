#include "collect/library_trace/trace_tables.h"

#include "os/output_file.h"

#include <ctime>
#include <fmt/format.h>

namespace rankscope {
namespace {

std::string cell_trace_tables(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"')
      out += '"';
    out += c;
  }
  return out + "\"";
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm t = {};
  ::localtime_r(&now, &t);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1,
                     t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}

std::string total(double of_one, std::uint64_t calls) {
  return of_one > 0 ? fmt::format("{:.0f}", of_one * static_cast<double>(calls)) : std::string();
}

std::string seconds(const std::optional<double>& t) {
  return t ? fmt::format("{:.6f}", *t) : std::string();
}

std::string number(std::size_t n) {
  return n > 0 ? fmt::format("{}", n) : std::string();
}

} // namespace

Result<void> write_trace_table(const LibraryTraceOptions& options, ConfigTable& table) {
  RS_TRY(OutputFile file, OutputFile::create(options.csv));
  const char* const end = options.crlf ? "\r\n" : "\n";
  const std::string created = options.created.empty() ? now_text() : options.created;
  const std::string front =
      fmt::format("{},{},{}", cell_trace_tables(options.job_id), cell_trace_tables(created),
                  cell_trace_tables(options.model));
  file.write(fmt::format("jobid,created_date,model,library,config,calls{}", end));
  RS_CHECK(table.for_each([&](const ConfigCount& c) -> Result<void> {
    file.write(fmt::format("{},{},{},{}{}", front, log_kind_name(c.call.kind),
                           cell_trace_tables(c.call.config), c.calls, end));
    return {};
  }));
  return file.commit();
}

Result<void> write_trace_detail(const LibraryTraceOptions& options, ConfigTable& table,
                                std::span<const LibraryCount> counts) {
  RS_TRY(OutputFile file, OutputFile::create(options.detail_csv));
  file.write("library,operation,dtype,problem,layout,solution,kernel,calls,bytes,flops,first_s,"
             "last_s,processes,ranks,damaged,kernel_us\n");
  RS_CHECK(table.for_each([&](const ConfigCount& c) -> Result<void> {
    const LibraryCall& call = c.call;
    file.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},,{}\n",
                           log_kind_name(call.kind), cell_trace_tables(call.operation),
                           cell_trace_tables(call.dtype), cell_trace_tables(call.problem),
                           cell_trace_tables(call.layout), cell_trace_tables(call.solution),
                           cell_trace_tables(call.kernel), c.calls, total(call.bytes, c.calls),
                           total(call.flops, c.calls), seconds(c.first_s), seconds(c.last_s),
                           number(c.processes.size()), number(c.ranks.size()),
                           c.kernel_us ? fmt::format("{:.3f}", *c.kernel_us) : ""));
    return {};
  }));
  for (const LibraryCount& c : counts)
    if (c.damaged > 0)
      file.write(fmt::format("{},(damaged),,,,,,,,,,,,,{},\n", log_kind_name(c.kind), c.damaged));
  return file.commit();
}

} // namespace rankscope
