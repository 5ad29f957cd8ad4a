// rankscope profile: runs a command, or the commands of tagged models, under profiling tools.
#include "cli/profile_flags.h"
#include "collect/finding_json.h"
#include "findings/profile_findings.h"
#include "os/signals.h"
#include "writers/console.h"
#include "writers/json_head.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Error as_error(const Finding& f) {
  return {ErrorCode::kMissingTool, std::string(f.rule),
          f.headline + (f.evidence.empty() ? "" : ". " + f.evidence), f.action};
}

Result<void> show_plan(Context& ctx, const PreparedRun& run, const ProfileFlags& f) {
  if (ctx.json) {
    Json plan = plan_json(run.run.plan);
    plan.at("out") = run.run.out;
    if (!run.keeper.empty())
      plan.at("container") = run.keeper;
    ctx.out(headed_json("profile plan", plan.dump()) + "\n");
    return {};
  }
  std::string text;
  if (!run.identity.model.empty())
    text += "model " + run.identity.model + "\n";
  text += "out   " + run.run.out + "\n";
  if (!run.run.folder.empty())
    text += "in    " + run.run.folder + "\n";
  if (!run.keeper.empty())
    text += "image " + quoted_command(run.keeper) + "\n";
  ctx.out(text + plan_text(run.run.plan, f.explain));
  RS_TRY(const auto facts, check_prepared(run));
  ctx.out(findings_text(profile_findings(run.run.plan.facts)) +
          findings_text(profile_findings(facts)));
  return {};
}

/// Prints the outcome for people on standard error; standard output belongs to the command.
void show_outcome(Context& ctx, const PreparedRun& run, const ProfileOutcome& outcome) {
  ctx.note(summary_text(outcome.identity, run.run, outcome.result, outcome.findings));
  for (const ProfileOutcome::Report& report : outcome.reports) {
    if (!report.why.empty()) {
      ctx.note(fmt::format("no report: {}", report.why));
      continue;
    }
    ctx.note(fmt::format("{} -> {}", report.trace, report.output));
    if (report.no_gpu_events)
      ctx.warn(fmt::format("{} has no GPU events, so there is no timeline", report.trace));
    if (report.timeline.rows() > 0)
      ctx.note(console_table(report.timeline));
    if (report.kernels.rows() > 0)
      ctx.note(console_table(report.kernels, 10));
  }
  if (outcome.step_energy.rows() > 0)
    ctx.note(console_table(outcome.step_energy));
  ctx.note("outputs in " + outcome.out);
}

Result<void> run_all(Context& ctx, ProfileFlags& f) {
  f.request.to_error = ctx.json;
  RS_TRY(auto runs, prepare_profile(ctx, f.request));
  int status = 0;
  for (PreparedRun& run : runs) {
    if (f.dry_run || f.explain) {
      RS_CHECK(show_plan(ctx, run, f));
      continue;
    }
    RS_TRY(auto facts, check_prepared(run));
    for (ProfileFact& fact : facts) {
      if (fact.stops())
        return as_error(profile_finding(fact));
      run.run.plan.facts.push_back(std::move(fact));
    }
    RS_TRY(const ProfileOutcome outcome, run_prepared(ctx, run, f.request));
    if (ctx.json)
      ctx.out(
          headed_json(
              outcome.out,
              manifest_json(outcome.identity, run.run, outcome.result, outcome.findings).dump()) +
          "\n");
    show_outcome(ctx, run, outcome);
    if (!outcome.result.launched && interrupt_signal() != 0)
      status = 128 + interrupt_signal();
    else if (!outcome.result.launched && status == 0)
      status = exit_code(ErrorCode::kMissingTool);
    else if (outcome.result.exit_status != 0)
      status = outcome.result.exit_status;
    if (ctx.strict && outcome.result.tool_failed)
      ctx.partial = true;
    if (status >= 128 && !f.request.keep_going)
      break; // interrupted, or killed
  }
  ctx.program_status = status;
  return {};
}

Result<void> run(Context& ctx, ProfileFlags& f) {
  f.request.command = ctx.program;
  if (!f.inputs.empty() && f.action != "trace-parse" && f.action != "merge")
    return Error{ErrorCode::kUsage, f.inputs.front(),
                 "profile " + f.action + " does not accept this argument",
                 "write the command after --"};
  if (!f.action.empty())
    return run_profile_action(ctx, f);
  if (f.local && !f.request.docker.empty())
    return Error{ErrorCode::kUsage, "--local", "excludes --docker", ""};
  if (f.request.command.empty() == f.request.models.tags.empty())
    return Error{ErrorCode::kUsage, "profile",
                 f.request.command.empty() ? "no command to run"
                                           : "a command and --tags exclude each other",
                 "rankscope profile --tool NAME -- COMMAND, or --tags TAG"};
  return run_all(ctx, f);
}

Action setup_profile(FlagSet& app) {
  auto f = std::make_shared<ProfileFlags>();
  add_profile_flags(app, *f);
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command profile_command{
    "profile", "run a command under one or more profiling tools",
    "  rankscope profile --tool rocprofv3 -- python train.py --steps 20\n"
    "  rankscope profile --tool rocblas_trace --tool gpu_info_power_profiler:DEVICE=0 -- ./app\n"
    "  rankscope profile --tags bert -c '{\"tools\": [{\"name\": \"rocprof\"}]}'\n"
    "  rankscope profile doctor --tool nsys\n"
    "  rankscope profile merge profile_run\n"
    "  rankscope profile trace-parse run.log -o library_trace.csv",
    setup_profile, true};

} // namespace rankscope
