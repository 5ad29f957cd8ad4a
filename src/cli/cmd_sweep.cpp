// rankscope sweep: runs a command with every setting, records the runs and reports the best
// setting.
#include "app/command_plans.h"
#include "app/command_reports.h"
#include "cli/command.h"
#include "cli/sweep_flags.h"
#include "collect/run_inputs.h"
#include "os/signals.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

void print_plan(Context& ctx, const SweepRequest& request, const SweepPlan& plan) {
  if (ctx.json)
    return ctx.report(sweep_plan(request, plan));
  for (const auto* list : {&plan.warmups, &plan.runs})
    for (const PlannedRun& run : *list) {
      ctx.out(fmt::format("# {}{} -> {}{}\n", list == &plan.warmups ? "warm-up with " : "",
                          run.label, run.folder,
                          is_finished(request, run) ? " (finished; not run again)" : ""));
      ctx.out(shell_command(run) + "\n");
    }
}

void print_sweep(Context& ctx, const SweepRequest& request, const FinishedSweep& sweep) {
  if (ctx.json)
    return ctx.report(sweep_report(sweep));
  ctx.out(summary_text(request.kind, sweep.folder, sweep.rows, sentences_of(sweep.findings),
                       std::chrono::system_clock::now()));
  ctx.out(
      fmt::format("\n{}: {} of {} runs succeeded\n", sweep.folder, sweep.done, sweep.rows.size()));
  const bool traces = std::ranges::any_of(sweep.rows, [](const SummaryRow& row) {
    return row.run != nullptr && !trace_files_below(row.run->folder).empty();
  });
  if (!request.analyze && sweep.done > 0 && traces)
    ctx.out(fmt::format("to make the reports: rankscope analyze {}\n", sweep.folder));
}

Result<void> sweep(Context& ctx, SweepFlags& f) {
  RS_CHECK(read_sweep_flags(ctx.program, f));
  f.request.run.echo = !f.no_echo && !ctx.quiet && !ctx.json;
  f.request.run.cancel = interrupt_token();
  RS_TRY(const SweepPlan plan, plan_sweep(f.request));
  if (f.dry_run) {
    print_plan(ctx, f.request, plan);
    return {};
  }
  f.request.run.host = read_host_facts();
  RS_TRY(const FinishedSweep done, run_sweep(ctx, f.request, plan));
  print_sweep(ctx, f.request, done);
  return {};
}

Action setup_sweep(FlagSet& app) {
  auto f = std::make_shared<SweepFlags>();
  add_sweep_flags(app, *f);
  return [f](Context& ctx) { return sweep(ctx, *f); };
}

} // namespace

const Command sweep_command{
    "sweep", "run a command with every setting and report the best one",
    "  rankscope sweep -c 28,42,56,70 -t 256,512 --analyze -- \\\n"
    "      torchrun --nproc-per-node 8 train.py --out {out}\n"
    "  rankscope sweep -p \"56,256 37,384\" --timeout 1800 -- ./train.sh\n"
    "  rankscope sweep --matrix settings.json --repeats 3 --shuffle -- ./bench --algo {algo}\n"
    "  rankscope sweep -c 28,56 -o experiments/sweep_20260203_101500 -- ./train.sh",
    setup_sweep, true};

} // namespace rankscope
