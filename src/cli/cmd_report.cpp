// rankscope report TRACE...: every sheet of the single-trace report.
#include "cli/command.h"
#include "cli/report_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Result<void> one(Context& ctx, ReportRequest request, const std::string& path) {
  request.trace = path;
  request.only_asked = ctx.json;
  RS_TRY(const TraceReport done, report_trace(ctx, request));
  if (ctx.json) {
    ctx.out(json_text(done.report));
    return {};
  }
  if (const Table* timeline = done.report.find("gpu_timeline"))
    ctx.table(*timeline);
  if (!done.coverage.empty())
    ctx.out(done.coverage + "\n");
  for (const std::string& w : done.written)
    ctx.out(fmt::format("{}: {} sheets\n", w, done.report.tables.size()));
  return {};
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<ReportFlags>();
  add_report_flags(app, *f);
  return [f](Context& ctx) -> Result<void> {
    if (f->traces.empty())
      return Error{ErrorCode::kUsage, "report", "needs a trace", "rankscope report --help"};
    const ReportRequest request = report_request(*f);
    if (const ReportOutputs& to = request.outputs;
        f->traces.size() > 1 && (!to.file.empty() || !to.csv_dir.empty()))
      return Error{ErrorCode::kUsage, "", "--output and --csv-dir take one trace", ""};
    std::size_t failed = 0;
    for (const std::string& path : f->traces)
      if (Result<void> done = one(ctx, request, path); !done) {
        if (done.error().code != ErrorCode::kUnreadable || ++failed == f->traces.size())
          return done;
        ctx.warn(done.error().message());
        ctx.partial = true;
      }
    return {};
  };
}

} // namespace

const Command report_command{
    "report", "every sheet of one trace's report",
    "  rankscope report rank0.json.gz\n"
    "  rankscope report rank0.json.gz --csv-dir out --sheets gpu_timeline,ops_summary\n"
    "  zcat rank0.json.gz | rankscope report - -o rank0.xlsx",
    setup};

} // namespace rankscope
