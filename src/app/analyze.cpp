#include "app/analyze.h"

#include "app/analyze_outputs.h"
#include "app/analyze_pictures.h"
#include "app/analyze_run.h"
#include "app/sweep_pages.h"
#include "engine/rank_source.h"
#include "engine/run_ranks.h"
#include "findings/collective_findings.h"
#include "os/output_file.h"
#include "pages/sweep_page.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

/// Fills in the results of all plans: reuses those where nothing changed, computes the others.
Result<void> bring_up_to_date(Session& ctx, const AnalyzeRequest& request, AnalyzedSweep& sweep) {
  AnalyzeRun run;
  run.layout = request.layout;
  run.merged_folder = request.merged_folder;
  run.individual = request.individual;
  run.force = request.force;
  run.report = request.report;
  run.top_k = request.top_k;
  run.ranking = request.rank_by;
  run.memory_bytes = request.memory_bytes;
  run.align = request.align;
  run.options = [&request] { return options_text(request); };
  const std::string options = run.options();
  std::vector<const RunPlan*> todo;
  std::vector<std::size_t> place;
  sweep.configs.resize(sweep.plans.size());
  for (std::size_t p = 0; p < sweep.plans.size(); ++p) {
    const RunPlan& plan = sweep.plans[p];
    std::optional<ConfigResult> known;
    if (!request.force && plan.parts == nullptr)
      known = load_state(request.layout.state(plan.configuration),
                         fingerprint_of(plan, options).text, ctx.diagnostics);
    if (known) {
      sweep.configs[p] = std::move(*known);
    } else {
      todo.push_back(&plan);
      place.push_back(p);
    }
  }
  sweep.redone = todo.size();
  RS_TRY(std::vector<ConfigResult> results, run_configurations(ctx, run, todo));
  SweepState state{request.top_k, run.ranking, {}};
  for (std::size_t i = 0; i < results.size(); ++i)
    sweep.configs[place[i]] = std::move(results[i]);
  for (const ConfigResult& config : sweep.configs)
    state.labels.push_back(config.configuration.label);
  return save_sweep(state, request.layout);
}

/// Returns the default output folder: the sweep, or the folder that contains a single trace.
std::string folder_of(const std::string& sweep) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(sweep, ec))
    return sweep;
  const std::string parent = std::filesystem::path(sweep).parent_path().string();
  return parent.empty() ? "." : parent;
}

} // namespace

std::vector<AnalyzeRequest> requests_for(const AnalyzeRequest& shared,
                                         const std::vector<NamedSweep>& sweeps,
                                         const std::string& output, bool merge) {
  std::vector<AnalyzeRequest> out;
  for (const NamedSweep& sweep : sweeps) {
    AnalyzeRequest r = shared;
    r.folder = sweep.folder;
    r.label = sweep.label.empty() ? leaf_name(sweep.folder) : sweep.label;
    if (!out.empty() && r.label == out.front().label)
      r.label += " (2)";
    std::string sub = r.label;
    std::replace(sub.begin(), sub.end(), '/', '_');
    const std::string parent = folder_of(r.folder);
    r.layout = OutputLayout(output.empty()       ? fmt::format("{}/{}", parent, kAnalysisFolder)
                            : sweeps.size() == 1 ? output
                                                 : output + "/" + sub);
    if (merge)
      r.merged_folder =
          fmt::format("{}/{}", output.empty() ? parent : r.layout.folder(), kMergedFolder);
    out.push_back(std::move(r));
  }
  return out;
}

ReportOptions sweep_report_options() {
  ReportOptions out;
  out.short_kernel_threshold_us = 50;
  return out;
}

std::string options_text(const AnalyzeRequest& request) {
  std::string out =
      fmt::format("top_k={} rank_by={} merge={} align={} gpu_arch={}", request.top_k,
                  gemm_ranking_name(request.rank_by), !request.merged_folder.empty(),
                  request.align ? static_cast<int>(*request.align) : -1, request.report.gpu_arch);
  if (request.report.legacy_gemm_layout)
    out += " layout=2025-11";
  if (!request.individual)
    out += " individual=0";
  std::error_code ec;
  if (const std::string& file = request.report.gpu_arch;
      !file.empty() && std::filesystem::is_regular_file(file, ec))
    out += " content=" + content_mark(file);
  return out;
}

Result<std::string> write_sides_page(const std::vector<AnalyzeRequest>& requests,
                                     const std::vector<AnalyzedSweep>& sweeps,
                                     const std::string& output, const std::string& page) {
  std::vector<SweepSide> sides;
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    sides.push_back({requests[i].label, requests[i].layout.folder(), &sweeps[i].facts});
  const std::string to = !page.empty()    ? page
                         : output.empty() ? "sweep_comparison_report.html"
                                          : output + "/sweep_comparison_report.html";
  RS_CHECK(write_sweep_page(sides, to));
  return to;
}

Table shown_configurations(const SweepFacts& facts) {
  return short_configuration_schema().table(configuration_rows(facts.records));
}

Result<AnalyzedSweep> analyze_sweep(Session& ctx, const AnalyzeRequest& request) {
  RS_TRY(std::vector<RunPlan> plans,
         find_sweep(ctx, request.folder, request.discover, ctx.diagnostics));
  return analyze_plans(ctx, request, std::move(plans));
}

Result<AnalyzedSweep> analyze_plans(Session& ctx, const AnalyzeRequest& request,
                                    std::vector<RunPlan> plans) {
  AnalyzedSweep sweep;
  sweep.plans = std::move(plans);
  RS_CHECK(make_folder(request.layout.folder()));
  RS_CHECK(bring_up_to_date(ctx, request, sweep));
  sweep.facts = facts_of(sweep.configs, request.top_k, request.rank_by);
  if (sweep.facts.empty())
    return no_rank_left(ctx, request.folder);
  sweep.summary.title = request.folder;
  sweep.summary.tables = summary_tables(sweep.facts.records, request.top_k);
  put_findings_first(sweep.summary, sweep.facts.findings);
  sweep.summary.diagnostics = ctx.diagnostics;
  SweepPlots plots(request, sweep);
  if (request.plots)
    plots.start(ctx);
  RS_CHECK(write_sweep_tables(request, sweep));
  if (request.plots)
    if (Result<void> drawn = plots.finish(ctx); !drawn)
      sweep.plot_error = drawn.error(); // the tables do not depend on the plots
  RS_CHECK(write_manifest(request, sweep));
  return sweep;
}

} // namespace rankscope
