// rankscope report TRACE...: writes every sheet of the single-trace report.
#include "app/report_comparison.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/page_flags.h"
#include "cli/report_flags.h"
#include "os/terminal.h"
#include "pages/top_page.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace rankscope {
namespace {

/// Returns whether the summary is shown: true unless a flag names outputs, selects a part of the
/// trace, or changes how values are counted.
bool shows_page(const ReportRequest& request) {
  const ReportOptions& o = request.options;
  return request.outputs.file.empty() && request.outputs.csv_dir.empty() && o.step.empty() &&
         o.sheets.empty() && !o.compat_tracelens && !o.detect_recompute && o.micro_idle_us <= 0;
}

/// Writes one report. `page`: also print the complete summary; on a terminal, it replaces the table
/// gpu_timeline.
Result<void> report_one_trace(Context& ctx, ReportRequest request, const std::string& path,
                              bool page) {
  request.trace = path;
  request.only_asked = ctx.json;
  request.top = page && !ctx.json;
  const bool terminal = terminal_of(1).is_terminal;
  RS_CHECK(check_comparison(request));
  RS_TRY(TraceReport done, report_trace(ctx, request));
  if (!request.comparison.empty()) {
    RS_CHECK(write_report_comparison(ctx, request, done));
  }
  if (ctx.json) {
    ctx.out(json_text(done.report));
    return {};
  }
  if (!done.graphs.empty())
    ctx.out(done.graphs + "\n");
  if (const Table* timeline = done.report.find("gpu_timeline");
      timeline != nullptr && !(done.top && terminal))
    ctx.table(*timeline);
  if (!done.coverage.empty() && !(done.top && terminal))
    ctx.out(done.coverage + "\n");
  if (done.top) {
    ctx.page((terminal ? "" : "\n") + top_page(*done.top, page_style()) + "\n");
    ctx.problems_shown = terminal && ::isatty(2) == 1;
  }
  for (const auto& [file, sheets] : done.written)
    ctx.out(fmt::format("{}: {}\n", file, counted(sheets, "sheet", "sheets")));
  return {};
}

Action setup_report(FlagSet& app) {
  auto f = std::make_shared<ReportFlags>();
  add_report_flags(app, *f);
  return [f](Context& ctx) -> Result<void> {
    if (f->traces.empty())
      return Error{ErrorCode::kUsage, "report", "needs a trace", "rankscope report --help"};
    const ReportRequest request = report_request(*f);
    if (const ReportOutputs& to = request.outputs;
        f->traces.size() > 1 && (!to.file.empty() || !to.csv_dir.empty()))
      return Error{ErrorCode::kUsage, "", "--output and --csv-dir work only with one trace", ""};
    const bool page = f->traces.size() == 1 && shows_page(request);
    std::size_t failed = 0;
    for (const std::string& path : f->traces)
      if (Result<void> done = report_one_trace(ctx, request, path, page); !done) {
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
    "report", "write the full report of one trace: a sheet for each kind of value",
    "  rankscope report rank0.json.gz\n"
    "  rankscope report rank0.json.gz --csv-dir out --sheets gpu_timeline,ops_summary\n"
    "  zcat rank0.json.gz | rankscope report - -o rank0.xlsx",
    setup_report};

} // namespace rankscope
