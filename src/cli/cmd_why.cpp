// rankscope why TRACE|DIR: the causes of a step's time, remedies and their gain.
#include "analyses/job/cause_tables.h"
#include "app/why.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/page_flags.h"
#include "cli/parts_flags.h"
#include "core/steps.h"
#include "findings/cause_findings.h"
#include "pages/why_page.h"
#include "writers/writer.h"

#include <memory>

namespace rankscope {
namespace {

constexpr std::size_t kCausesShown = 5;

struct WhyFlags {
  WhyRequest request;
  PageFlags page;
  std::size_t top = kCausesShown;
  std::string only_steps;
  bool rules = false;
};

Report why_report(const CauseFacts& facts) {
  Report report;
  report.title = facts.title;
  report.tables = cause_tables(facts);
  std::vector<Finding> findings = cause_findings(facts);
  if (std::optional<Finding> exposed = exposed_time_finding(facts))
    findings.push_back(std::move(*exposed));
  report.tables.push_back(remedy_table(facts));
  report.tables.push_back(finding_schema().table(findings));
  return report;
}

Result<void> why(Context& ctx, const WhyFlags& f) {
  if (f.rules) {
    ctx.page(why_rules_page(page_style(f.page)));
    return {};
  }
  if (f.request.job.inputs.empty())
    return Error{ErrorCode::kUsage, "why", "needs a trace or a folder of rank traces",
                 "rankscope why --help"};
  WhyRequest request = f.request;
  if (!f.only_steps.empty()) {
    RS_TRY(request.steps, parse_steps(f.only_steps, options::only_steps.name));
  }
  RS_TRY(const WhyAnswer answer, why_of(ctx, request));
  if (ctx.json)
    ctx.out(json_text(why_report(answer.facts)));
  else
    ctx.page(why_page(answer.facts, answer.clock, page_style(f.page), f.top,
                      with_paths(cause_commands(answer.facts), request.job.inputs)));
  return {};
}

Action setup_why(FlagSet& app) {
  auto f = std::make_shared<WhyFlags>();
  app.add_option("TRACE", f->request.job.inputs,
                 "a trace (- for standard input), or folders or files of the ranks of one run");
  app.add(options::top_k.also("-k,"), f->top, "causes to print (0: all)").capture_default_str();
  app.add_option("--floor", f->request.floor_percent,
                 "do not report gains below this percentage of a step, nor below 0.05 ms")
      .type_name("PERCENT")
      .capture_default_str();
  app.add_option("--step-time", f->request.step_time_ms,
                 "step time without the profiler, ms: correct the recorded times for the "
                 "profiler's overhead")
      .type_name("MS")
      .positive();
  app.add_option("--rule", f->request.rule,
                 "report only causes of this rule (--rules lists the rules)")
      .type_name("ID");
  app.add_option("--rank", f->request.rank,
                 "report the causes on this rank, and the gain on this rank when they are removed");
  app.add(options::only_steps, f->only_steps);
  app.add_flag("--rules", f->rules, "print the rules and their remedies");
  in_group(app, "Page", [&] { add_page_flags(app, f->page); });
  in_group(app, "Counting", [&] { app.add(options::gpu_arch, f->request.job.gpu_arch); });
  in_group(app, "Running", [&] { app.add(options::memory, f->request.job.memory_bytes); });
  add_discover_flags(app, f->request.job.discover, false);
  return {[f](Context& ctx) { return why(ctx, *f); },
          [f](const Context&) -> Result<std::vector<PartialRequest>> {
            if (f->rules)
              return Error{ErrorCode::kUsage, "why", "--rules takes no parts", ""};
            JobInputRequest& r = f->request.job;
            return std::vector{
                run_of_ranks("why", r.inputs, r.discover,
                             {.gpu_arch = &r.gpu_arch, .memory_bytes = &r.memory_bytes})};
          }};
}

} // namespace

const Command why_command{"why", "report what makes the steps slow, the remedy and its gain",
                          "  rankscope why rank0.json.gz\n"
                          "  rankscope why run/torch_profiler -k 0\n"
                          "  rankscope why run --step-time 112.4\n"
                          "  rankscope why run --rank 3 --only-steps 12\n"
                          "  rankscope why --rules",
                          setup_why};

} // namespace rankscope
