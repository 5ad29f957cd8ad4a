// rankscope library-trace LOG... -o library_trace.csv: converts saved logs of GPU libraries to
// tables.
#include "cli/library_logs.h"

#include <memory>

namespace rankscope {
namespace {

Action setup_library_trace(FlagSet& app) {
  auto f = std::make_shared<LibraryLogs>();
  f->options.csv = "library_trace.csv";
  app.add_option("LOGS", f->logs, "logs, plain, gzip or zstd; '-' is standard input").required();
  in_group(app, "Output", [&] {
    app.add(options::output, f->options.csv,
            "table to write, '-' for standard output; NAME_detail.csv is written next to it")
        .capture_default_str();
    app.add_flag("--no-detail", f->no_detail, "do not write the detailed table");
    app.add_option("--others", f->others,
                   "write lines that belong to no known library to this file");
    app.add_flag("--crlf", f->options.crlf, "write the same line endings as the older script");
  });
  in_group(app, "Columns", [&] {
    app.add_option("--model", f->options.model, "value of the column 'model'")
        .envname("MAD_MODEL_NAME");
    app.add_option("--job-id", f->options.job_id, "value of the column 'jobid'")
        .envname("JENKINS_BUILD_NUMBER")
        .capture_default_str();
    app.add_option("--max-configs", f->options.max_configs,
                   "maximum number of configurations per library in memory; beyond it, a temporary "
                   "file is used")
        .range(1, 100'000'000)
        .capture_default_str();
  });
  return [f](Context& ctx) -> Result<void> { return parse_library_logs(ctx, *f); };
}

} // namespace

const Command library_trace_command{
    "library-trace", "convert logs of rocBLAS, hipBLASLt, MIOpen, RCCL, cuBLAS... to tables",
    "  rankscope library-trace run.log -o library_trace.csv\n"
    "  rankscope library-trace rank*.log.gz --model llama --others rest.log",
    setup_library_trace};

} // namespace rankscope
