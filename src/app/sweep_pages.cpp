#include "app/sweep_pages.h"

#include "app/analyze.h"
#include "app/analyze_run.h"
#include "app/analyze_state.h"
#include "base/pointers.h"
#include "engine/rank_source.h"
#include "engine/shard_file.h"
#include "pages/sweep_page.h"

#include <filesystem>

namespace rankscope {

namespace {

/// Computes the facts of analyze from parts.
Result<SweepFacts> facts_of_parts(Session& session, const std::string& sweep) {
  RS_TRY(const std::vector<RunPlan> plans, find_sweep(session, sweep, {}, session.diagnostics));
  const PartOptions& options = plans.front().parts->facts().options;
  AnalyzeRun run;
  run.individual = run.write = false;
  run.report = sweep_report_options();
  run.report.gpu_arch = options.gpu_arch;
  run.report.legacy_gemm_layout = options.legacy_gemm_layout;
  run.top_k = options.top_k;
  run.ranking = options.rank_by;
  run.options = [] { return std::string(); };
  RS_TRY(const std::vector<ConfigResult> configs,
         run_configurations(session, run, pointers_to(plans)));
  return facts_of(configs, run.top_k, run.ranking);
}

} // namespace

Result<void> write_analysed_page(Session& session, const std::vector<AnalysedFolder>& sweeps,
                                 const std::string& path) {
  std::vector<SweepFacts> facts;
  for (const AnalysedFolder& sweep : sweeps) {
    RS_TRY(SweepFacts loaded, session.source != nullptr ? facts_of_parts(session, sweep.folder)
                                                        : load_analysed(sweep.folder));
    facts.push_back(std::move(loaded));
  }
  std::vector<SweepSide> sides;
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    sides.push_back({sweeps[i].label, sweeps[i].folder, &facts[i]});
  return write_sweep_page(sides, path);
}

std::string leaf_name(const std::string& path) {
  const std::filesystem::path p = std::filesystem::absolute(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

} // namespace rankscope
