// rankscope profile: a command, or the commands of tagged models, under profiling tools.
#include "app/profile_run.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/library_logs.h"
#include "collect/profile/merge_ranks.h"
#include "os/signals.h"
#include "writers/console.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  std::string action;
  std::vector<std::string> inputs; ///< of an action
  std::string table = "library_trace.csv";
  ProfileRequest request;
  bool dry_run = false, explain = false, local = false;
};

bool stops(const PlanFinding& f) {
  return f.code.rfind("E-", 0) == 0;
}

Error as_error(const PlanFinding& f) {
  return {ErrorCode::kMissingTool, f.code + (f.tool.empty() ? "" : " " + f.tool),
          f.cause + (f.evidence.empty() ? "" : "; " + f.evidence), f.next};
}

Result<void> list_tools(Context& ctx, const Flags& f) {
  std::vector<std::string> notes;
  RS_TRY(const ToolTable table, tool_table(f.request, notes));
  Json all = Json::list();
  std::string text;
  for (const std::string& name : table.names()) {
    Json use = Json::object();
    use.at("name") = Json::of(name);
    RS_TRY(const ToolEntry entry, table.entry(use, "tools", notes));
    std::vector<ToolEntry> chosen = {entry};
    PreflightTarget target;
    const char* const path = std::getenv("PATH");
    target.path = path == nullptr ? "" : path;
    RS_CHECK(choose_fallbacks(target, chosen, notes));
    const std::string program = program_of(chosen[0]);
    RS_TRY(const auto found, find_programs(target, {program.empty() ? "sh" : program}));
    const bool there = program.empty() || !found.at(program).empty();
    const char* const state = !entry.native.empty() ? "built in"
                              : program.empty()     ? "variables"
                              : there               ? "here"
                                                    : "not here";
    text += fmt::format("{:<26}{:<10}{}\n", name, state, entry.about);
    Json one = Json::object();
    one.at("name") = Json::of(name);
    one.at("state") = Json::of(state);
    one.at("about") = Json::of(entry.about);
    one.at("vendors") = Json::list(entry.vendors);
    one.at("cmd") = Json::of(entry.cmd);
    Json writes = Json::list();
    for (const ToolOutput& output : entry.produces) {
      text += fmt::format("{:36}writes {}\n", "", output.path);
      writes.items.push_back(Json::of(output.path));
    }
    one.at("writes") = std::move(writes);
    all.items.push_back(std::move(one));
  }
  for (const std::string& note : notes)
    ctx.note(note);
  ctx.out(ctx.json ? all.dump() + "\n" : text);
  return {};
}

/// Without the place that all tools were looked for in, which is told once.
PlanFinding without_search(PlanFinding finding, const std::string& searched) {
  const std::string text = "searched " + searched;
  if (finding.evidence.rfind(text, 0) == 0)
    finding.evidence.erase(0,
                           text.size() + (finding.evidence.size() > text.size() ? 2 : 0)); // "; "
  return finding;
}

/// How many tools can run, each tool with what is said of it, where they were looked for.
std::string doctor_text(const PreparedRun& run, const std::vector<PlanFinding>& findings) {
  const std::string searched = searched_path(run.target);
  std::size_t good = 0;
  bool looked = false;
  std::string tools;
  for (const ToolEntry& tool : run.run.plan.tools) {
    std::string text;
    bool bad = false;
    for (const PlanFinding& finding : findings)
      if (finding.tool == tool.name) {
        text += finding_text(without_search(finding, searched));
        bad = bad || stops(finding);
      }
    good += bad ? 0 : 1;
    tools += fmt::format("{:<28}{}\n{}", tool.name, text.empty() ? "ok" : "", text);
  }
  for (const PlanFinding& finding : findings) {
    if (finding.tool.empty())
      tools += finding_text(without_search(finding, searched));
    looked = looked || finding.evidence.rfind("searched " + searched, 0) == 0;
  }
  return fmt::format("{} of {} tools can run {}\n{}{}", good, run.run.plan.tools.size(),
                     run.target.image.empty() ? "here" : "in " + run.target.image_name, tools,
                     looked ? "searched " + searched + "\n" : "");
}

/// The pre-flight alone; without tools, of every tool that is built in.
Result<void> doctor(Context& ctx, Flags f) {
  if (f.request.tools.empty() && f.request.contexts.empty() && f.request.context_files.empty()) {
    std::vector<std::string> notes;
    RS_TRY(const ToolTable table, tool_table(f.request, notes));
    f.request.tools = table.names();
  }
  f.request.force = true; // they are looked at, not run together
  if (ctx.program.empty())
    f.request.command = {"true"};
  RS_TRY(const auto runs, prepare_profile(ctx, f.request));
  Json all = Json::list();
  bool bad = false;
  for (const PreparedRun& run : runs) {
    RS_TRY(const auto findings, check_prepared(run, f.request));
    if (!ctx.json)
      ctx.out(doctor_text(run, findings));
    for (const PlanFinding& finding : findings) {
      bad = bad || stops(finding);
      Json one = Json::object();
      one.at("code") = Json::of(finding.code);
      one.at("tool") = Json::of(finding.tool);
      one.at("cause") = Json::of(finding.cause);
      one.at("evidence") = Json::of(finding.evidence);
      one.at("next") = Json::of(finding.next);
      all.items.push_back(std::move(one));
    }
  }
  if (ctx.json)
    ctx.out(all.dump() + "\n");
  if (bad)
    ctx.program_status = exit_code(ErrorCode::kMissingTool);
  return {};
}

Result<void> show_plan(Context& ctx, const PreparedRun& run, const Flags& f) {
  if (ctx.json) {
    Json plan = plan_json(run.run.plan);
    plan.at("out") = Json::of(run.run.out);
    if (!run.keeper.empty())
      plan.at("container") = Json::list(run.keeper);
    ctx.out(plan.dump() + "\n");
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
  RS_TRY(const auto findings, check_prepared(run, f.request));
  for (const PlanFinding& finding : findings)
    ctx.out(finding_text(finding));
  return {};
}

/// For people, on standard error: standard output is the command's.
void show_outcome(Context& ctx, const PreparedRun& run, const ProfileOutcome& outcome) {
  ctx.note(summary_text(outcome.identity, run.run, outcome.result));
  for (const ProfileOutcome::Report& report : outcome.reports) {
    if (!report.why.empty()) {
      ctx.note(fmt::format("no report: {}", report.why));
      continue;
    }
    ctx.note(fmt::format("{} -> {}", report.trace, report.output));
    if (report.timeline.rows() > 0)
      ctx.note(console_table(report.timeline));
    if (report.kernels.rows() > 0)
      ctx.note(console_table(report.kernels, 10));
  }
  if (outcome.step_energy.rows() > 0)
    ctx.note(console_table(outcome.step_energy));
  ctx.note("outputs in " + outcome.out);
}

Result<void> run_all(Context& ctx, Flags& f) {
  f.request.to_error = ctx.json;
  RS_TRY(auto runs, prepare_profile(ctx, f.request));
  int status = 0;
  for (PreparedRun& run : runs) {
    if (f.dry_run || f.explain) {
      RS_CHECK(show_plan(ctx, run, f));
      continue;
    }
    RS_TRY(auto findings, check_prepared(run, f.request));
    const auto bad = std::find_if(findings.begin(), findings.end(), stops);
    if (bad != findings.end())
      return as_error(*bad);
    for (PlanFinding& finding : findings)
      run.run.plan.findings.push_back(std::move(finding));
    RS_TRY(const ProfileOutcome outcome, run_prepared(ctx, run, f.request));
    if (ctx.json)
      ctx.out(manifest_json(outcome.identity, run.run, outcome.result).dump() + "\n");
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

/// The folder of the whole: the one that holds all ranks.
Result<std::string> merged_folder(const Flags& f, const ProfiledRanks& run) {
  if (!f.request.out.empty())
    return f.request.out;
  std::string parent;
  std::error_code ec;
  for (const ProfiledRank& rank : run.ranks) {
    const std::string above =
        std::filesystem::absolute(rank.folder, ec).lexically_normal().parent_path().string();
    if (!parent.empty() && parent != above)
      return Error{ErrorCode::kUsage, "profile merge", "the ranks lie in different places",
                   "--out DIR says where the whole goes"};
    parent = above;
  }
  return parent;
}

Result<void> merge(Context& ctx, const Flags& f) {
  if (f.inputs.empty())
    return Error{ErrorCode::kUsage, "merge", "no folder is named",
                 "rankscope profile merge DIR, where DIR holds rank_0, rank_1, ..."};
  RS_TRY(const ProfiledRanks run, merge_ranks(f.inputs));
  RS_TRY(const std::string out, merged_folder(f, run));
  RS_CHECK(write_merged(run, out));
  ctx.out(ctx.json ? merged_json(run).dump() + "\n" : merged_text(run));
  ctx.note("outputs in " + out);
  if (!run.findings.empty())
    ctx.partial = true;
  return {};
}

/// As library-trace with what the environment says of model and job.
Result<void> trace_parse(Context& ctx, const Flags& f) {
  LibraryLogs logs;
  logs.logs = f.inputs;
  logs.options.csv = f.table;
  if (logs.logs.empty())
    return Error{ErrorCode::kUsage, "trace-parse", "no logs are named",
                 "rankscope profile trace-parse LOG... -o library_trace.csv"};
  if (const char* model = std::getenv("MAD_MODEL_NAME"))
    logs.options.model = model;
  if (const char* job = std::getenv("JENKINS_BUILD_NUMBER"); job != nullptr && *job != '\0')
    logs.options.job_id = job;
  return parse_library_logs(ctx, logs);
}

Result<void> run(Context& ctx, Flags& f) {
  f.request.command = ctx.program;
  if (!f.inputs.empty() && f.action != "trace-parse" && f.action != "merge")
    return Error{ErrorCode::kUsage, f.inputs.front(), "profile " + f.action + " takes no such word",
                 "the command stands behind --"};
  if (f.action == "tools")
    return list_tools(ctx, f);
  if (f.action == "doctor")
    return doctor(ctx, f);
  if (f.action == "merge")
    return merge(ctx, f);
  if (f.action == "trace-parse")
    return trace_parse(ctx, f);
  if (f.local && !f.request.docker.empty())
    return Error{ErrorCode::kUsage, "--local", "--docker says otherwise", ""};
  if (f.request.command.empty() == f.request.models.tags.empty())
    return Error{ErrorCode::kUsage, "profile",
                 f.request.command.empty() ? "no command to run"
                                           : "a command and --tags at the same time",
                 "rankscope profile --tool NAME -- COMMAND, or --tags TAG"};
  return run_all(ctx, f);
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  ProfileRequest& r = f->request;
  app.add_option(
         "ACTION", f->action,
         "doctor: look at the tools only; tools: list them; merge: ranks as one; trace-parse: "
         "tables of saved logs of libraries; none: run what stands behind --")
      ->check(CLI::IsMember({"doctor", "tools", "merge", "trace-parse"}));
  app.add_option("INPUTS", f->inputs, "of merge: folders; of trace-parse: logs");
  app.add_option("-o,--output", f->table, "of trace-parse: the table")->capture_default_str();
  in_group(app, "Tools", [&] {
    app.add_option("--tool", r.tools, "NAME[:VARIABLE=value,...], the first is the innermost");
    app.add_option("--tools-config", r.tables, "tools.json, merged over the built-in table");
    app.add_option("-c,--additional-context", r.contexts, "JSON: tools, docker_env_vars, ...");
    app.add_option("-f,--additional-context-file", r.context_files, "the same in a file");
    app.add_flag("--hide-trace-lines", r.hide_trace_lines,
                 "lines that libraries log are not shown; run.log has them");
    app.add_flag("--force", r.force, "tools that do not go together; a folder with a run");
  });
  in_group(app, "Models", [&] {
    app.add_option("--tags", r.models.tags, "models: name, tag, scope/tag, tag:key=value, all");
    app.add_option("--models", r.models.file, "models.json")->capture_default_str();
    app.add_flag("--allow-python-discovery", r.models.allow_python,
                 "run scripts/*/get_models_json.py");
  });
  in_group(app, "Samplers", [&] {
    app.add_option("--devices", r.devices, "all, visible, 0,2, uuid or PCI address");
    app.add_option("--sample-rate", r.sample_rate, "seconds between samples: 0.1, 100ms");
    app.add_flag("--dual-gcd", r.dual_gcd, "a column for each board of two dies");
    app.add_option("--sysfs-root", r.sysfs_root, "a folder that imitates /sys");
  });
  in_group(app, "The run", [&] {
    app.add_option("--out", r.out, "folder of outputs (default: profile_RUN-ID)");
    app.add_flag("--compat-outputs", r.compat_outputs, "the documented names here as well");
    app.add_option("--perf-csv", r.perf_csv,
                   "append the figure that the command prints to this table");
    app.add_option("--docker", r.docker, "run in a container of this image");
    app.add_flag("--local", f->local, "run here (the default)");
    app.add_option("--baseline", r.baseline, "run N times without tools before: overhead")
        ->expected(0, 1)
        ->default_str("1");
    app.add_option("--timeout", r.timeout_s, "seconds for the command, 0 = none")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--grace", r.grace_s, "seconds between asking to end and killing")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_flag("--keep-going", r.keep_going, "run though a tool could not be set up");
    app.add_flag("--dry-run", f->dry_run, "print what would be done");
    app.add_flag("--explain", f->explain, "the same with the tools and the rule of order");
  });
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command profile_command{
    "profile", "a command under stacked profiling tools",
    "  rankscope profile --tool rocprofv3 -- python train.py --steps 20\n"
    "  rankscope profile --tool rocblas_trace --tool gpu_info_power_profiler:DEVICE=0 -- ./app\n"
    "  rankscope profile --tags bert -c '{\"tools\": [{\"name\": \"rocprof\"}]}'\n"
    "  rankscope profile doctor --tool nsys\n"
    "  rankscope profile merge profile_run\n"
    "  rankscope profile trace-parse run.log -o library_trace.csv",
    setup, true};

} // namespace rankscope
