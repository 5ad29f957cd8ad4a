// The actions of `rankscope profile` besides running a command: list the tools, run only their
// pre-flight (doctor), join the ranks of a run (merge), convert saved logs to tables (trace-parse),
// run copies (replicate).
#include "cli/library_logs.h"
#include "cli/profile_flags.h"
#include "collect/finding_json.h"
#include "collect/profile/merge_ranks.h"
#include "collect/profile/replicate.h"
#include "findings/profile_findings.h"
#include "os/signals.h"
#include "writers/json_head.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

Result<void> list_tools(Context& ctx, const ProfileFlags& f) {
  std::vector<std::string> notes;
  RS_TRY(const ToolTable table, tool_table(f.request, notes));
  Json all = Json::list();
  std::string text;
  for (const std::string& name : table.names()) {
    Json use = Json::object();
    use.at("name") = name;
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
                                                    : "not installed";
    text += fmt::format("{:<26}{:<15}{}\n", name, state, entry.about);
    Json row = Json::object({{"name", name},
                             {"state", state},
                             {"about", entry.about},
                             {"vendors", entry.vendors},
                             {"cmd", entry.cmd}});
    Json writes = Json::list();
    for (const ToolOutput& output : entry.produces) {
      text += fmt::format("{:41}writes {}\n", "", output.path);
      writes.items.push_back(output.path);
    }
    row.at("writes") = std::move(writes);
    all.items.push_back(std::move(row));
  }
  for (const std::string& note : notes)
    ctx.note(note);
  ctx.out(ctx.json ? headed_json_list("profile tools", "tools", all.dump()) : text);
  return {};
}

/// Returns the finding without the place where all tools were searched, which is printed once.
std::string text_without_search(const ProfileFact& fact, const std::string& searched) {
  Finding finding = profile_finding(fact);
  const std::string text = "Searched " + searched;
  if (finding.evidence.rfind(text, 0) == 0)
    finding.evidence.erase(0,
                           text.size() + (finding.evidence.size() > text.size() ? 2 : 0)); // "; "
  return findings_text({&finding, 1});
}

/// Returns the number of tools that can run, the findings of each tool, and the searched places.
std::string doctor_text(const PreparedRun& run, const std::vector<ProfileFact>& facts) {
  const std::string searched = searched_path(run.target);
  std::size_t good = 0;
  std::size_t without_gpu = 0;
  bool searched_any = false;
  std::string tools;
  for (const ToolEntry& tool : run.run.plan.tools) {
    std::string text;
    bool bad = false;
    for (const ProfileFact& fact : facts)
      if (fact.tool == tool.name) {
        text += text_without_search(fact, searched);
        bad = bad || fact.stops();
      }
    const bool no_gpu = !bad && lacks_gpu(tool, run.target);
    without_gpu += no_gpu ? 1 : 0;
    good += bad || no_gpu ? 0 : 1;
    const char* const state = !text.empty() ? "" : no_gpu ? "needs a GPU" : "ok";
    tools += fmt::format("{:<28}{}\n{}", tool.name, state, text);
  }
  for (const ProfileFact& fact : facts) {
    if (fact.tool.empty())
      tools += text_without_search(fact, searched);
    const auto* const missing = std::get_if<profile::MissingTool>(&fact.what);
    searched_any = searched_any || (missing != nullptr && !missing->searched.empty()) ||
                   fact.is<profile::MissingCommand>();
  }
  const std::string waiting = without_gpu == 0
                                  ? ""
                                  : fmt::format("; {} more need{} a GPU that is not here",
                                                without_gpu, without_gpu == 1 ? "s" : "");
  return fmt::format("{} of {} tools can run {}{}\n{}{}", good, run.run.plan.tools.size(),
                     run.target.image.empty() ? "here" : "in " + run.target.image_name, waiting,
                     tools, searched_any ? "searched " + searched + "\n" : "");
}

/// Runs only the pre-flight. Without tools, it covers every built-in tool.
Result<void> doctor(Context& ctx, ProfileFlags f) {
  if (f.request.tools.empty() && f.request.contexts.empty() && f.request.context_files.empty()) {
    std::vector<std::string> notes;
    RS_TRY(const ToolTable table, tool_table(f.request, notes));
    f.request.tools = table.names();
  }
  f.request.force = true; // the tools are checked, not run together
  if (ctx.program.empty())
    f.request.command = {"true"};
  RS_TRY(const auto runs, prepare_profile(ctx, f.request));
  std::vector<Finding> findings;
  bool bad = false;
  for (const PreparedRun& run : runs) {
    RS_TRY(const auto facts, examine_prepared(run, f.request));
    if (!ctx.json)
      ctx.out(doctor_text(run, facts));
    for (const ProfileFact& fact : facts) {
      bad = bad || fact.stops();
      findings.push_back(profile_finding(fact));
    }
  }
  if (ctx.json)
    ctx.out(headed_json_list("profile doctor", "findings", findings_json(findings).dump()));
  if (bad)
    ctx.program_status = exit_code(ErrorCode::kMissingTool);
  return {};
}

/// Returns the folder of the run, which contains all ranks.
Result<std::string> merged_folder(const ProfileFlags& f, const ProfiledRanks& run) {
  if (!f.request.out.empty())
    return f.request.out;
  std::string parent;
  std::error_code ec;
  for (const ProfiledRank& rank : run.ranks) {
    const std::string above =
        std::filesystem::absolute(rank.folder, ec).lexically_normal().parent_path().string();
    if (!parent.empty() && parent != above)
      return Error{ErrorCode::kUsage, "profile merge", "the ranks are in different folders",
                   "choose the output folder with --out DIR"};
    parent = above;
  }
  return parent;
}

Result<void> merge(Context& ctx, const ProfileFlags& f) {
  if (f.inputs.empty())
    return Error{ErrorCode::kUsage, "merge", "needs a folder",
                 "rankscope profile merge DIR, where DIR contains rank_0, rank_1, ..."};
  RS_TRY(const ProfiledRanks run, merge_ranks(f.inputs));
  RS_TRY(const std::string out, merged_folder(f, run));
  const std::vector<Finding> findings = profile_findings(run.facts);
  RS_CHECK(write_merged(run, findings, out));
  ctx.out(ctx.json ? headed_json(out, merged_json(run, findings).dump()) + "\n"
                   : merged_text(run, findings));
  ctx.note("outputs in " + out);
  if (!findings.empty())
    ctx.partial = true;
  return {};
}

Result<void> replicate(Context& ctx, const ProfileFlags& f) {
  if (ctx.program.empty() || f.request.devices.empty())
    return Error{ErrorCode::kUsage, "profile replicate", "needs --devices and a command",
                 "rankscope profile replicate --devices 0,1 -- COMMAND"};
  RS_TRY(const auto devices, replica_devices(f.request.devices, "", ""));
  RS_TRY(ctx.program_status, run_replicas(ctx.program, devices, interrupt_token()));
  return {};
}

/// Runs library-trace with the model and the job from the environment.
Result<void> trace_parse(Context& ctx, const ProfileFlags& f) {
  LibraryLogs logs;
  logs.logs = f.inputs;
  logs.options.csv = f.table;
  if (logs.logs.empty())
    return Error{ErrorCode::kUsage, "trace-parse", "needs logs",
                 "rankscope profile trace-parse LOG... -o library_trace.csv"};
  if (const char* model = std::getenv("MAD_MODEL_NAME"))
    logs.options.model = model;
  if (const char* job = std::getenv("JENKINS_BUILD_NUMBER"); job != nullptr && *job != '\0')
    logs.options.job_id = job;
  return parse_library_logs(ctx, logs);
}

} // namespace

Result<void> run_profile_action(Context& ctx, const ProfileFlags& f) {
  if (f.action == "tools")
    return list_tools(ctx, f);
  if (f.action == "doctor")
    return doctor(ctx, f);
  if (f.action == "merge")
    return merge(ctx, f);
  if (f.action == "replicate")
    return replicate(ctx, f);
  return trace_parse(ctx, f);
}

} // namespace rankscope
