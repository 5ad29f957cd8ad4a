// rankscope compare-reports R1 R2 [R3...]: the tables of several reports side by side.
#include "app/compare_report_files.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct CompareReportsFlags {
  std::vector<std::string> sheets;
  CompareReportsRequest request;
};

Result<void> run_compare_reports(Context& ctx, const CompareReportsFlags& f) {
  CompareReportsRequest request = f.request;
  request.options.sheets.insert(f.sheets.begin(), f.sheets.end());
  request.only_asked = ctx.json;
  RS_TRY(const ComparedReports done, compare_report_files(ctx, request));
  if (ctx.json) {
    for (const Finding& note : done.notes)
      ctx.warn(note.sentence());
    ctx.out(json_text(done.report));
    return {};
  }
  for (const Finding& note : done.notes)
    ctx.out("NOTE: " + note.sentence() + "\n");
  if (const Table* timeline = done.report.find("gpu_timeline"))
    ctx.table(*timeline);
  for (const std::string& w : done.written)
    ctx.out(fmt::format("{}: {}\n", w, counted(done.report.tables.size(), "sheet", "sheets")));
  return {};
}

Action setup_compare_reports(FlagSet& app) {
  auto f = std::make_shared<CompareReportsFlags>();
  app.add_option("REPORT", f->request.reports, "report workbooks or CSV folders, baseline first")
      .required()
      .expected(2, 1000);
  app.add_option("--names", f->request.names, "one name per report (default: file names)")
      .delimiter(',');
  app.add(options::sheets, f->sheets, "sheets to compare (default: all)")
      .delimiter(',')
      .one_of({"gpu_timeline", "ops_summary", "kernel_summary", "ops_all", "roofline", "all"});
  app.add(options::output, f->request.outputs.file,
          "file.xlsx, .json, .md, or .csv for one sheet (default: comparison.xlsx)");
  app.add(options::csv_dir, f->request.outputs.csv_dir);
  app.add(options::compat_tracelens, f->request.options.compat_tracelens);
  return [f](Context& ctx) { return run_compare_reports(ctx, *f); };
}

} // namespace

const Command compare_reports_command{
    "compare-reports", "show tables of two or more reports side by side, with differences",
    "  rankscope compare-reports base.xlsx new.xlsx -o comparison.xlsx\n"
    "  rankscope compare-reports base_csvs new_csvs --names base,new --sheets gpu_timeline",
    setup_compare_reports};

} // namespace rankscope
