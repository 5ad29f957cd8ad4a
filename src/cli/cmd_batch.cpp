// rankscope batch -b FOLDER: writes a workbook for every folder of rank traces below a base.
#include "app/batch.h"
#include "app/command_plans.h"
#include "app/command_reports.h"
#include "base/number_text.h"
#include "cli/batch_lines.h"
#include "cli/command.h"
#include "cli/figure_flags.h"
#include "cli/flag_set.h"
#include "cli/parts_flags.h"
#include "cli/replay_flags.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct BatchFlags {
  BatchRequest request;
  ReplayFlags replay;
  bool dry_run = false;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// Prints a note about the report that is about to be made.
void announce(Context& ctx, const BatchSearch& search, const BatchFolder& folder) {
  std::string text = fmt::format(
      "Creating performance report\n  Parent directory: {}\n  Excel file: {}\n  Filters: {}\n"
      "  Rank pattern: {}\n  Traces:\n",
      folder.plan.folder, std::filesystem::path(folder.output).filename().string(),
      joined(search.filters), search.pattern);
  for (const RankFile& rank : folder.plan.ranks)
    text += "    " + rank.path + "\n";
  ctx.out(text);
}

void show_plan(Context& ctx, const BatchSearch& search, const std::vector<BatchFolder>& folders) {
  if (ctx.json)
    return ctx.report(batch_plan(search, folders));
  for (const BatchFolder& folder : folders) {
    announce(ctx, search, folder);
    for (const std::string& line : folder.notes)
      ctx.note("rankscope: note: " + line);
    if (folder.error)
      ctx.warn(folder.error->message());
    ctx.out("End of dry run\n");
  }
}

void print(Context& ctx, const std::vector<BatchReport>& reports) {
  for (const std::string& line : shared_lines(reports, &BatchReport::notes))
    ctx.note("rankscope: note: " + line);
  for (const std::string& line : shared_lines(reports, &BatchReport::warnings))
    ctx.warn(line);
  for (const BatchReport& report : reports)
    if (!report.error)
      ctx.out(fmt::format("{}: {}, {}\n", report.output, counted(report.sheets, "sheet", "sheets"),
                          counted(report.ranks, "rank", "ranks")));
}

/// Sets exit code 4 when some reports failed. Returns the first error when all failed.
Result<void> verdict(Context& ctx, const std::vector<BatchReport>& reports) {
  std::size_t failed = 0;
  for (const BatchReport& r : reports)
    failed += r.error ? 1 : 0;
  const Error* first = nullptr;
  for (const BatchReport& r : reports) {
    if (!r.error)
      continue;
    if (failed == reports.size() && first == nullptr)
      first = &*r.error;
    else
      ctx.warn(r.error->message());
  }
  if (first != nullptr)
    return *first;
  ctx.partial = ctx.partial || failed > 0;
  return {};
}

Result<void> run_batch(Context& ctx, const BatchFlags& f) {
  BatchRequest request = f.request;
  request.replay_run = replay_options(f.replay);
  RS_TRY(std::vector<BatchFolder> folders, find_batch_folders(ctx, request.search));
  if (f.dry_run) {
    show_plan(ctx, request.search, folders);
    return {};
  }
  if (!ctx.json)
    for (const BatchFolder& folder : folders)
      announce(ctx, request.search, folder);
  RS_TRY(const std::vector<BatchReport> reports, run_batch(ctx, request, std::move(folders)));
  if (ctx.json)
    ctx.report(batch_report(request.search.base, reports));
  else
    print(ctx, reports);
  return verdict(ctx, reports);
}

Action setup_batch(FlagSet& app) {
  auto f = std::make_shared<BatchFlags>();
  BatchRequest& r = f->request;
  app.add_option("-b,--base", r.search.base,
                 "search this folder and all folders below it for traces")
      .required();
  add_batch_names(app, r.search);
  app.add_flag("-r,--replay", r.replay,
               "run the gemm and conv calls again and measure their times");
  app.add(options::dry_run.also("-d,"), f->dry_run);
  app.add(options::all_kernels, r.options.all_kernels);
  app.add(options::output, r.search.output,
          "file.xlsx, .json or .md, for one folder of traces (default: in that folder)");
  app.add_flag("--overwrite", r.overwrite, "replace existing reports");
  app.add(options::compat_tracelens, r.options.compat);
  add_replay_flags(app, f->replay);
  return {[f](Context& ctx) { return run_batch(ctx, *f); },
          [f](const Context&) -> Result<std::vector<PartialRequest>> {
            BatchRequest& request = f->request;
            return std::vector{
                run_of_ranks("batch", request.search.base, {},
                             {.batch_names = &request.search, .batch = &request.options})};
          }};
}

} // namespace

const Command batch_command{"batch", "write a workbook for every folder of rank traces",
                            "  rankscope batch -b profiles -f step_8\n"
                            "  rankscope batch -b profiles -e gz -f rank_ step_8 --all-kernels\n"
                            "  rankscope batch -b profiles -f step_8 --dry-run",
                            setup_batch};

} // namespace rankscope
