// rankscope compare-reports R1 R2 [R3...]: the tables of several reports side by side.
#include "analyses/compare/compare_reports.h"
#include "cli/command.h"
#include "readers/reports/report_tables.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  std::vector<std::string> reports;
  std::vector<std::string> names;
  std::vector<std::string> sheets;
  std::string output;
  std::string csv_dir;
  std::string compat;
};

/// File stem; for a folder its whole name (a dot in it is no extension).
std::string tag_of(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path p = fs::path(path).lexically_normal();
  const fs::path leaf = p.has_filename() ? p : p.parent_path();
  std::error_code code;
  return fs::is_directory(leaf, code) ? leaf.filename().string() : leaf.stem().string();
}

Result<void> run(Context& ctx, const Flags& f) {
  std::vector<std::string> tags = f.names;
  if (tags.empty())
    for (const std::string& path : f.reports)
      tags.push_back(tag_of(path));
  std::vector<Report> reports;
  for (const std::string& path : f.reports) {
    RS_TRY(Report report, read_report_tables(path));
    reports.push_back(std::move(report));
  }
  CompareReportsOptions options;
  options.sheets.insert(f.sheets.begin(), f.sheets.end());
  options.compat_tracelens = !f.compat.empty();
  RS_TRY(const Report out, compare_reports(reports, tags, options));
  ctx.diagnostics.merge(out.diagnostics);
  if (ctx.json)
    ctx.out(json_text(out));
  std::vector<std::string> written;
  if (!f.csv_dir.empty()) {
    RS_CHECK(find_writer("csv")->write(out, f.csv_dir));
    written.push_back(f.csv_dir);
  }
  if (!f.output.empty() || (f.csv_dir.empty() && !ctx.json)) {
    const std::string path = f.output.empty() ? "comparison.xlsx" : f.output;
    RS_CHECK(find_writer("xlsx")->write(out, path));
    written.push_back(path);
  }
  if (!ctx.json) {
    if (const Table* timeline = out.find("gpu_timeline"))
      ctx.out(console_table(*timeline));
    for (const std::string& w : written)
      ctx.out(fmt::format("{}: {} sheets\n", w, out.tables.size()));
  }
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("REPORT", f->reports, "report workbooks or CSV folders, the baseline first")
      ->required()
      ->expected(2, 1000);
  app.add_option("--names", f->names, "a name for each report (default: file names)")
      ->delimiter(',');
  app.add_option("--sheets", f->sheets, "what to compare (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(
          {"gpu_timeline", "ops_summary", "kernel_summary", "ops_all", "roofline", "all"}));
  app.add_option("-o,--output", f->output, "workbook (default: comparison.xlsx)");
  app.add_option("--csv-dir", f->csv_dir, "folder for one CSV per sheet");
  app.add_option("--compat", f->compat, "reproduce another tool's quirks")
      ->check(CLI::IsMember({"tracelens"}));
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command compare_reports_command{
    "compare-reports", "tables of two or more reports side by side, with differences",
    "  rankscope compare-reports base.xlsx new.xlsx -o comparison.xlsx\n"
    "  rankscope compare-reports base_csvs new_csvs --names base,new --sheets gpu_timeline",
    setup};

} // namespace rankscope
