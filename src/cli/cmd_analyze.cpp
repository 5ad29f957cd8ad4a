// rankscope analyze SWEEP: parses each trace of every configuration and rank below a folder once;
// writes all reports, tables, plots and the page of the sweep.
#include "app/analyze.h"
#include "app/command_plans.h"
#include "cli/analyze_screen.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/figure_flags.h"
#include "cli/parts_flags.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct AnalyzeFlags {
  AnalyzeRequest request;                 ///< options for both sweeps
  std::vector<std::string> sweep, sweep2; ///< one sweep each; with parts, several folders each
  std::string label1, label2;
  std::string output;
  std::string html;
  bool dry_run = false;
  bool no_merge = false;
  bool no_plots = false;
  bool no_individual = false;
};

Result<void> print_plan(Context& ctx, const AnalyzeRequest& request) {
  RS_TRY(const std::vector<RunPlan> plans,
         discover_sweep(request.folder, request.discover, ctx.diagnostics));
  if (ctx.json) {
    ctx.report(analyze_plan(request, plans));
    return {};
  }
  for (const RunPlan& plan : plans)
    for (const RankFile& file : plan.ranks) {
      const RunKey key{plan.configuration, file.rank};
      ctx.out(fmt::format("{}: {} -> {}\n", to_text(key), file.path,
                          request.layout.individual_report(key)));
    }
  return {};
}

Result<void> analyze(Context& ctx, const AnalyzeFlags& f) {
  AnalyzeRequest shared = f.request;
  shared.plots = !f.no_plots;
  shared.individual = !f.no_individual;
  if (f.sweep.size() > 1 || f.sweep2.size() > 1)
    return Error{ErrorCode::kUsage, "analyze", "expected one folder per sweep",
                 "--sweep2 names the second sweep"};
  std::vector<NamedSweep> named{{f.sweep.front(), f.label1}};
  if (!f.sweep2.empty())
    named.push_back({f.sweep2.front(), f.label2});
  const bool merge = !f.no_merge && ctx.source == nullptr; // a merge needs the traces
  const std::vector<AnalyzeRequest> requests = requests_for(shared, named, f.output, merge);
  std::vector<AnalyzedSweep> sweeps;
  for (const AnalyzeRequest& request : requests) {
    if (f.dry_run) {
      RS_CHECK(print_plan(ctx, request));
      continue;
    }
    RS_TRY(AnalyzedSweep sweep, analyze_sweep(ctx, request));
    show_sweep(ctx, request, sweep, requests.size() > 1);
    sweeps.push_back(std::move(sweep));
  }
  for (const AnalyzedSweep& sweep : sweeps)
    if (sweep.plot_error)
      return *sweep.plot_error;
  if (f.dry_run || (sweeps.size() < 2 && f.html.empty()))
    return {};
  RS_TRY(const std::string page, write_sides_page(requests, sweeps, f.output, f.html));
  show_sides_page(ctx, page);
  return {};
}

Result<std::vector<PartialRequest>> runs_of_analyze(AnalyzeFlags& f) {
  RS_CHECK(check_output("analyze", {f.request.folder}, f.output));
  AnalyzeRequest& r = f.request;
  const RankFlags flags{.gpu_arch = &r.report.gpu_arch,
                        .top_k = &r.top_k,
                        .rank_by = &r.rank_by,
                        .legacy_gemm_layout = &r.report.legacy_gemm_layout,
                        .memory_bytes = &r.memory_bytes};
  std::vector<PartialRequest> out{run_of_ranks("analyze", f.sweep, r.discover, flags)};
  if (!f.sweep2.empty())
    out.push_back(run_of_ranks("analyze", f.sweep2, r.discover, flags));
  for (PartialRequest& run : out)
    run.options.workbooks = !f.no_individual;
  return out;
}

void add_outputs(FlagSet& app, AnalyzeFlags& f) {
  app.add(options::output, f.output,
          "output folder; with --sweep2, it contains one folder per label (default: "
          "SWEEP/tracelens_analysis)");
  app.add(options::html, f.html);
  app.add(options::no_plots, f.no_plots);
  app.add(options::svg, f.request.svg);
  app.add_flag("--no-merge", f.no_merge, "write no merged traces");
  app.add_flag("--no-individual-reports", f.no_individual, "write no workbook for each rank");
  app.add(options::dry_run, f.dry_run);
}

void add_metric_flags(FlagSet& app, AnalyzeFlags& f) {
  AnalyzeRequest& r = f.request;
  add_gemm_metric_flags(app, r.report.gpu_arch, r.top_k, r.rank_by, r.report.legacy_gemm_layout);
  app.add(options::align, r.align,
          "align clocks by: none, base (time base of each trace), collectives (end times of "
          "collectives); default: collectives for reports, base for merged traces");
}

Action setup_analyze(FlagSet& app) {
  auto f = std::make_shared<AnalyzeFlags>();
  AnalyzeRequest& r = f->request;
  r.report = sweep_report_options();
  app.add_option("SWEEP", f->sweep, "sweep, run or any folder of traces").required();
  in_group(app, "Output", [&] { add_outputs(app, *f); });
  in_group(app, "Second sweep", [&] {
    app.add(options::sweep2, f->sweep2);
    app.add(options::label1, f->label1);
    app.add(options::label2, f->label2);
  });
  in_group(app, "Counting", [&] { add_metric_flags(app, *f); });
  in_group(app, "Running", [&] {
    app.add(options::memory, r.memory_bytes);
    app.add(options::force, r.force, "analyze unchanged configurations again");
  });
  add_discover_flags(app, r.discover, true);
  return {[f](Context& ctx) { return analyze(ctx, *f); },
          [f](const Context&) { return runs_of_analyze(*f); }};
}

} // namespace

const Command analyze_command{
    "analyze", "analyze a sweep: reports, tables, plots, findings and what to do next",
    "  rankscope analyze experiments/sweep_20251124_222204\n"
    "  rankscope analyze traces/ -o out --top-k 10\n"
    "  rankscope analyze before --sweep2 after --label1 old --label2 new\n"
    "  rankscope analyze sweep --dry-run",
    setup_analyze};

} // namespace rankscope
