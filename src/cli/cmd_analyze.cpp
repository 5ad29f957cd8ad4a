// rankscope analyze SWEEP: every configuration and rank below a folder, each trace parsed once; all
// reports, tables, plots and the page of the sweep.
#include "app/analyze.h"
#include "app/command_plans.h"
#include "cli/analyze_screen.h"
#include "cli/command.h"
#include "cli/discover_flags.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct AnalyzeFlags {
  AnalyzeRequest request; ///< what both sweeps share
  std::string sweep, sweep2;
  std::string label1, label2;
  std::string output;
  std::string html;
  std::string align, layout;
  std::uint64_t memory_mib = 0;
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
  shared.memory_bytes = f.memory_mib << 20;
  shared.plots = !f.no_plots;
  shared.individual = !f.no_individual;
  shared.align = align_mode(f.align);
  shared.report.legacy_gemm_layout = !f.layout.empty();
  std::vector<NamedSweep> named{{f.sweep, f.label1}};
  if (!f.sweep2.empty())
    named.push_back({f.sweep2, f.label2});
  const std::vector<AnalyzeRequest> requests = requests_for(shared, named, f.output, !f.no_merge);
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
    if (sweep.picture_error)
      return *sweep.picture_error;
  if (f.dry_run || (sweeps.size() < 2 && f.html.empty()))
    return {};
  RS_TRY(const std::string page, write_sides_page(requests, sweeps, f.output, f.html));
  show_sides_page(ctx, page);
  return {};
}

void add_outputs(FlagSet& app, AnalyzeFlags& f) {
  app.add_option("-o,--output", f.output,
                 "output folder (default: SWEEP/tracelens_analysis); with --sweep2 it has a "
                 "folder for each label");
  app.add_option("--html", f.html, "path of the HTML page");
  app.add_flag("--no-plots", f.no_plots, "write no plots and no HTML page");
  app.add_flag("--svg", f.request.svg, "also write plots as SVG");
  app.add_flag("--no-merge", f.no_merge, "write no merged traces");
  app.add_flag("--no-individual-reports", f.no_individual, "write no workbook for each rank");
  app.add_flag("--dry-run", f.dry_run, "print which files would be read and written, then exit");
}

void add_figures(FlagSet& app, AnalyzeFlags& f) {
  AnalyzeRequest& r = f.request;
  app.add_option("--top-k", r.top_k, "GEMMs listed per rank").capture_default_str();
  app.add_option("--rank-by", r.rank_by, "order of GEMMs: range, cv or total-excess")
      .one_of({"range", "cv", "total-excess"})
      .capture_default_str();
  app.add_option("--gpu-arch", r.report.gpu_arch, "GPU for rooflines, built-in name or JSON file");
  app.add_option("--layout", f.layout, "column order of the GEMM sheets").one_of({"2025-11"});
  add_align_flag(app, f.align, "reports by collectives, merged traces by base");
}

Action setup_analyze(FlagSet& app) {
  auto f = std::make_shared<AnalyzeFlags>();
  AnalyzeRequest& r = f->request;
  r.report = sweep_report_options();
  app.add_option("SWEEP", f->sweep, "sweep, run or any folder of traces").required();
  in_group(app, "Output", [&] { add_outputs(app, *f); });
  in_group(app, "Second sweep", [&] {
    app.add_option("--sweep2", f->sweep2, "analyze this sweep too and compare it");
    app.add_option("--label1", f->label1, "name of the sweep (default: folder name)");
    app.add_option("--label2", f->label2, "name of --sweep2");
  });
  in_group(app, "Counting", [&] { add_figures(app, *f); });
  in_group(app, "Running", [&] {
    app.add_option("--memory-mib", f->memory_mib,
                   "memory limit for traces being read (0: half of the free memory)");
    app.add_flag("--force", r.force, "analyze unchanged configurations again");
  });
  add_discover_flags(app, r.discover, true);
  return [f](Context& ctx) { return analyze(ctx, *f); };
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
