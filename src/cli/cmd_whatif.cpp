// rankscope whatif TRACE|DIR|TIMELINE: the cost of stragglers, or the gain of changes, by replay.
#include "app/whatif.h"
#include "app/write_outputs.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/page_flags.h"
#include "cli/parts_flags.h"
#include "core/steps.h"
#include "findings/straggler_findings.h"
#include "pages/whatif_page.h"
#include "writers/writer.h"

#include <memory>

namespace rankscope {
namespace {

constexpr std::size_t kSharesShown = 6;

struct WhatIfFlags {
  WhatIfRequest request;
  std::vector<std::string> edits;
  std::string only_steps;
  PageFlags page;
  std::size_t top = kSharesShown;
};

Report whatif_report(const WhatIfFacts& facts) {
  Report report;
  report.title = facts.title;
  report.tables = whatif_tables(facts);
  report.tables.push_back(finding_schema().table(straggler_findings(facts)));
  return report;
}

Result<void> whatif(Context& ctx, const WhatIfFlags& f) {
  WhatIfRequest request = f.request;
  for (const std::string& edit : f.edits) {
    RS_TRY(RunEdit change, parse_run_edit(edit));
    request.changes.push_back(std::move(change));
  }
  if (!f.only_steps.empty()) {
    RS_TRY(request.steps, parse_steps(f.only_steps, options::only_steps.name));
  }
  if (!request.output.empty())
    RS_CHECK(check_ending(request.output, {".json", ".json.gz"}));
  RS_TRY(const WhatIfFacts facts, whatif_of(ctx, request));
  if (ctx.json)
    ctx.out(json_text(whatif_report(facts)));
  else
    ctx.page(whatif_page(facts, page_style(f.page), f.top));
  return {};
}

Action setup_whatif(FlagSet& app) {
  auto f = std::make_shared<WhatIfFlags>();
  app.add_option("TRACE", f->request.job.inputs,
                 "a trace (- for standard input), folders or files of the ranks of one run, or the "
                 "timeline of a pipeline-parallel job")
      .required();
  app.add_option(
         "--edit", f->edits,
         "replay with this change (repeatable): 'kernels=REGEX x 0.5', 'collectives=REGEX x "
         "0.7', 'collectives=REGEX at bandwidth 300', 'op=REGEX x 0', 'op=REGEX as in run PATH', "
         "'host x 0.5', 'delays x 0', 'ranks=LIST as median', 'hide collectives'; several factors: "
         "'kernels x 0.5,0.8'")
      .type_name("CHANGE");
  app.add(options::only_steps, f->only_steps);
  app.add(options::output, f->request.output,
          "write the run of the last row as a trace (without --edit: the run without "
          "stragglers)")
      .type_name("FILE.json[.gz]");
  app.add(options::top_k.also("-k,"), f->top, "rows of each list (0: all)").capture_default_str();
  in_group(app, "Page", [&] { add_page_flags(app, f->page); });
  in_group(app, "Running", [&] { app.add(options::memory, f->request.job.memory_bytes); });
  add_discover_flags(app, f->request.job.discover, false);
  return {[f](Context& ctx) { return whatif(ctx, *f); },
          [f](const Context&) -> Result<std::vector<PartialRequest>> {
            JobInputRequest& r = f->request.job;
            return std::vector{
                run_of_ranks("whatif", r.inputs, r.discover, {.memory_bytes = &r.memory_bytes})};
          }};
}

} // namespace

const Command whatif_command{"whatif", "predict the step time without stragglers, or after changes",
                             "  rankscope whatif run\n"
                             "  rankscope whatif run --edit 'op=aten::mm x 0.5,0.8'\n"
                             "  rankscope whatif run --edit 'hide collectives' -o hidden.json.gz\n"
                             "  rankscope whatif timeline.json.gz",
                             setup_whatif};

} // namespace rankscope
