// rankscope baseline: saves the data that a comparison needs in a small file, checks a run against
// such a file, and shows many of them as a history with change points.
#include "analyses/top/top_facts.h"
#include "app/baseline.h"
#include "app/baseline_history.h"
#include "app/write_outputs.h"
#include "app/written_files.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "cli/comparison_screen.h"
#include "cli/discover_flags.h"
#include "cli/parts_flags.h"
#include "writers/writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct BaselineFlags {
  std::string action;
  std::vector<std::string> inputs;
  std::string output, csv_dir, label;
  CompareFlags compare;
};

Result<void> save(Context& ctx, const BaselineFlags& f) {
  if (f.inputs.size() != 1)
    return Error{ErrorCode::kUsage, "baseline save", "needs one run", "rankscope baseline --help"};
  if (f.output.empty())
    return Error{ErrorCode::kUsage, "baseline save", "needs a file to write", "-o NAME.rsb"};
  BaselineSaveRequest request;
  request.folder = f.inputs.front();
  request.output = f.output;
  request.label = f.label;
  request.discover = f.compare.request.discover;
  request.reports_only = f.compare.request.reports_only;
  request.align = f.compare.request.align;
  RS_TRY(const BaselineSaved saved, save_baseline(ctx, request));
  if (ctx.json)
    ctx.out(json_text(written_files(f.inputs.front(), {f.output})));
  std::size_t steps = 0; // comparisons of some times leave out the first one
  for (const auto& [rank, timeline] : saved.baseline.run.ranks)
    for (const auto& [kind, by_step] : timeline.step_ns)
      steps = std::max(steps, by_step.size());
  ctx.note(fmt::format("{}: {}, {}, {} bytes", f.output,
                       counted(saved.baseline.run.ranks.size(), "rank", "ranks"),
                       counted(steps, "step", "steps"), saved.bytes));
  return {};
}

Result<void> check(Context& ctx, const BaselineFlags& f) {
  if (f.compare.baseline.empty())
    return Error{ErrorCode::kUsage, "baseline check", "needs the file to check against",
                 "--baseline NAME.rsb"};
  CompareFlags flags = f.compare;
  flags.tests = f.inputs;
  flags.request.output = f.output;
  flags.no_plots = true;
  RS_TRY(CompareRequest request, compare_request(flags));
  request.write_reports = !f.output.empty();
  if (f.output.empty())
    request.timeline_workbooks = request.collective_workbooks = request.final_workbook = false;
  RS_TRY(const CompareResult result, compare_folders(ctx, request));
  return show_comparison(ctx, request, result, flags.annotate);
}

Result<void> history(Context& ctx, const BaselineFlags& f) {
  HistoryRequest request;
  request.inputs = f.inputs;
  request.outputs = {f.output, "", f.csv_dir};
  std::vector<std::string> words = {"rankscope", "baseline", "history"};
  words.insert(words.end(), f.inputs.begin(), f.inputs.end());
  words.insert(words.end(), {"-o", f.output});
  request.command = shell_text(words);
  RS_TRY(const HistoryResult result, baseline_history(ctx, request));
  for (const Finding& note : result.notes)
    ctx.warn(note.sentence());
  if (ctx.json) {
    ctx.out(json_text(result.report));
    return {};
  }
  ctx.table(result.report.tables.front(), 40);
  ctx.out("\n");
  for (const Finding& finding : result.findings)
    ctx.out(finding.sentence() + "\n");
  for (const std::string& path : result.written)
    ctx.out(path + "\n");
  return {};
}

Result<std::vector<PartialRequest>> runs_of_baseline(BaselineFlags& f) {
  if (f.action != "save" || f.output.empty())
    return Error{ErrorCode::kUsage, "baseline",
                 "with parts, only 'save PARTS -o NAME.rsb' is possible", ""};
  RS_CHECK(check_ending(f.output, {".rsb"})); // before anything is read
  return std::vector{run_of_ranks("baseline", f.inputs, f.compare.request.discover)};
}

Action setup_baseline(FlagSet& app) {
  auto f = std::make_shared<BaselineFlags>();
  app.add_option("action", f->action, "save, check or history")
      .required()
      .one_of({"save", "check", "history"});
  app.add_option("inputs", f->inputs,
                 "save: a run; check: runs to check; history: saved baselines, oldest first, or a "
                 "folder that contains them")
      .required();
  app.add(options::output, f->output,
          "save: the file (.rsb); check: a folder for workbooks; history: .xlsx, .json, .md, "
          ".html");
  in_group(app, "save", [&] {
    app.add(options::label, f->label,
            "name of the run for check and history (default: name of the file)");
    app.add(options::align, f->compare.request.align);
    app.add(options::skip_tracelens, f->compare.request.reports_only);
  });
  in_group(app, "check", [&] {
    app.add(options::baseline, f->compare.baseline);
    app.add(options::labels, f->compare.labels.all).delimiter(',');
    add_verdict_flags(app, f->compare);
  });
  in_group(app, "history", [&] { app.add(options::csv_dir, f->csv_dir); });
  add_discover_flags(app, f->compare.request.discover, false);
  return {[f](Context& ctx) {
            return f->action == "save"    ? save(ctx, *f)
                   : f->action == "check" ? check(ctx, *f)
                                          : history(ctx, *f);
          },
          [f](const Context&) { return runs_of_baseline(*f); }};
}

} // namespace

const Command baseline_command{
    "baseline", "save a run, check runs against it, show a history",
    "  rankscope baseline save traces -o base.rsb\n"
    "  rankscope baseline check new --baseline base.rsb --fail-on-file rankscope.conditions\n"
    "  rankscope baseline history saved -o history.xlsx\n"
    "  rankscope baseline history saved -o history.html",
    setup_baseline};

} // namespace rankscope
