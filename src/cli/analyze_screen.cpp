#include "cli/analyze_screen.h"

#include "analyses/top/top_facts.h"
#include "findings/sweep_findings.h"
#include "writers/writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {

void show_sweep(Context& ctx, const AnalyzeRequest& request, const AnalyzedSweep& sweep,
                bool named) {
  if (ctx.json)
    return ctx.out(json_text(sweep.summary));
  if (named)
    ctx.out(request.label + "\n");
  const AnswerText text = answer_text(sweep.facts.findings);
  ctx.out(text.answer + "\n\n");
  for (const std::string& reason : text.reasons)
    ctx.out("- " + reason + "\n");
  if (!text.actions.empty())
    ctx.out("\nWhat to do next\n");
  for (const std::string& action : text.actions)
    ctx.out("- " + action + "\n");
  ctx.out("\n");
  ctx.table(shown_configurations(sweep.facts), 40);
  if (sweep.redone < sweep.plans.size())
    ctx.out(fmt::format("\n{} of {} configurations were unchanged since an earlier run (--force "
                        "redoes them)\n",
                        sweep.plans.size() - sweep.redone, sweep.plans.size()));
  const auto collective = std::ranges::count_if(
      sweep.configs, [](const ConfigResult& c) { return !c.collective_file.empty(); });
  ctx.out(fmt::format("\n{}: {} individual and {} collective reports, {}*.csv, summary.md\n",
                      request.layout.folder(), request.individual ? sweep.facts.records.size() : 0,
                      collective, gemm_table_name(request.top_k, GemmTable::kVariance)));
  if (!request.merged_folder.empty())
    ctx.out(fmt::format("{}: merged traces for Perfetto\n", request.merged_folder));
  if (request.plots)
    ctx.out(fmt::format("{}: open it in a browser\n", request.layout.page()));
  if (sweep.plans.size() == 1)
    ctx.out(shell_text({"rankscope", "why", sweep.plans.front().folder}) +
            ": what makes the steps slow, the remedies and their gains\n");
}

void show_sides_page(Context& ctx, const std::string& page) {
  if (!ctx.json)
    ctx.out(page + ": the sweeps side by side\n");
}

} // namespace rankscope
