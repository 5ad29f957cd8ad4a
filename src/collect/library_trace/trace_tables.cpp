#include "collect/library_trace/trace_tables.h"

#include "base/csv.h"
#include "base/time_text.h"
#include "os/output_file.h"

#include <chrono>
#include <fmt/format.h>

namespace rankscope {
namespace {

std::string total(double per_call, std::uint64_t calls) {
  return per_call > 0 ? fmt::format("{:.0f}", per_call * static_cast<double>(calls))
                      : std::string();
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
  const std::string created =
      options.created.empty() ? local_text(std::chrono::system_clock::now(), "%Y-%m-%d %H:%M:%S")
                              : options.created;
  const std::string front =
      fmt::format("{},{},{}", csv_cell(options.job_id), csv_cell(created), csv_cell(options.model));
  file.write(fmt::format("jobid,created_date,model,library,config,calls{}", end));
  RS_CHECK(table.for_each([&](const ConfigCount& c) -> Result<void> {
    file.write(fmt::format("{},{},{},{}{}", front, log_kind_name(c.call.kind),
                           csv_cell(c.call.config), c.calls, end));
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
                           log_kind_name(call.kind), csv_cell(call.operation), csv_cell(call.dtype),
                           csv_cell(call.problem), csv_cell(call.layout), csv_cell(call.solution),
                           csv_cell(call.kernel), c.calls, total(call.bytes, c.calls),
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
