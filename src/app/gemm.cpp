#include "app/gemm.h"

#include "app/gpu_work.h"
#include "app/rank_needs.h"
#include "base/pointers.h"
#include "engine/rank_source.h"
#include "findings/run_findings.h"
#include "os/whole_file.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

bool wanted(const std::vector<std::int64_t>& list, const std::optional<std::int64_t>& value) {
  return list.empty() || (value && std::find(list.begin(), list.end(), *value) != list.end());
}

} // namespace

bool RankFilter::takes(const RunKey& key) const {
  return wanted(threads, key.configuration.threads()) &&
         wanted(channels, key.configuration.channels_or_cus()) && wanted(ranks, key.rank);
}

Result<std::vector<RunPlan>> chosen_runs(Session& ctx, const std::string& sweep,
                                         const DiscoverOptions& discover,
                                         const RankFilter& filter) {
  RS_TRY(std::vector<RunPlan> plans, find_sweep(ctx, sweep, discover, ctx.diagnostics));
  for (RunPlan& plan : plans)
    std::erase_if(plan.ranks, [&](const RankFile& file) {
      return !filter.takes({plan.configuration, file.rank});
    });
  std::erase_if(plans, [](const RunPlan& plan) { return plan.ranks.empty(); });
  if (plans.empty())
    return Error{ErrorCode::kUsage, sweep, "no trace matches --threads, --channels and --ranks",
                 ""};
  return plans;
}

Result<WrittenTable> gemm_from_traces(Session& ctx, const GemmRequest& request) {
  RS_TRY(const std::vector<RunPlan> plans,
         chosen_runs(ctx, request.sweep, request.discover, request.filter));
  Needs needs;
  const FactOf<GemmFacts> key = need_gemms(needs, {{}, request.top_k, request.rank_by});
  const FactOf<TraceNotes> notes = need_notes(needs);
  std::vector<GemmFacts> ranks;
  FactSteps steps{needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts found) -> Result<void> {
    ctx.diagnostics.merge(found[notes].diagnostics);
    name_rank(item, found[key]);
    ranks.push_back(std::move(found[key]));
    return {};
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[notes].diagnostics);
  };
  RS_CHECK(run_ranks(ctx, pointers_to(plans), RankRun{}, std::move(steps)));
  if (ranks.empty())
    return no_rank_left(ctx, request.sweep);
  const GemmFacts facts = join_gemm_facts(pointers_to(ranks), request.rank_by);
  if (facts.rows.empty())
    return Error{ErrorCode::kUnreadable, request.sweep, "no GEMM operator or kernel in any trace",
                 ""};
  const OutputLayout layout(request.output.empty()
                                ? fmt::format("{}/{}", request.sweep, kAnalysisFolder)
                                : request.output);
  WrittenTable out{gemm_table(facts, request.table, request.top_k),
                   layout.gemm_csv(request.top_k, request.table), gemm_findings(facts, 3)};
  RS_CHECK(write_with_folder(out.path, csv_text(out.table)));
  return out;
}

} // namespace rankscope
