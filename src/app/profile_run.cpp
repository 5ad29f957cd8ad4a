#include "app/profile_run.h"

#include "app/profile_energy.h"
#include "app/report_trace.h"
#include "base/counters.h"
#include "collect/container_run.h"
#include "collect/profile/container.h"
#include "collect/profile/counter_sets.h"
#include "collect/profile/library_tool.h"
#include "collect/profile/perf_csv.h"
#include "collect/profile/replicate.h"
#include "collect/profile/sampler_tool.h"
#include "collect/profile/therock_tool.h"
#include "collect/profile/torch_tool.h"
#include "collect/samplers/gpu_backend.h"
#include "engine/quiet_session.h"
#include "findings/profile_findings.h"
#include "os/folder_lock.h"
#include "os/output_file.h"
#include "os/signals.h"
#include "readers/reader.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Result<std::vector<ToolEntry>> asked_tools(const ProfileRequest& request, const ToolTable& table,
                                           const ProfileContext& context,
                                           std::vector<std::string>& notes) {
  std::vector<ToolEntry> out;
  for (const std::string& text : request.tools) {
    RS_TRY(const Json use, tool_use(text));
    RS_TRY(ToolEntry entry, table.entry(use, "--tool", notes));
    out.push_back(std::move(entry));
  }
  for (const Json& use : context.tools) {
    RS_TRY(ToolEntry entry, table.entry(use, "additional context", notes));
    out.push_back(std::move(entry));
  }
  return out;
}

std::string absolute(const std::string& path) {
  std::error_code ec;
  return fs::absolute(path, ec).lexically_normal().string();
}

std::string default_out(const std::string& run_id, int rank) {
  if (rank < 0)
    return "profile_" + run_id;
  for (const char* name : {"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PBS_JOBID"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return fmt::format("profile_{}", value);
  return "profile_run"; // equal for all ranks
}

/// Returns the folder of the run; with several runs, the subfolder of the model and rank.
std::string folder_of(const ProfileRequest& request, const RunIdentity& identity, bool several) {
  std::string out = request.out.empty() ? default_out(identity.run_id, identity.rank) : request.out;
  if (several) {
    std::string name = identity.model;
    std::replace(name.begin(), name.end(), '/', '_');
    out += "/" + name;
  }
  if (identity.rank >= 0)
    out += fmt::format("/rank_{}", identity.rank);
  while (out.size() > 1 && out.back() == '/')
    out.pop_back();
  return absolute(out);
}

/// Refuses a folder with a finished run, unless `force` is set.
Result<void> check_folder(const std::string& out, bool force) {
  std::error_code ec;
  if (!force && fs::exists(out + "/manifest.json", ec))
    return Error{ErrorCode::kUsage, out, "already contains a run", "use another --out, or --force"};
  return {};
}

struct Wanted {
  std::vector<std::string> command;
  std::string model, folder, script;
  EnvPairs env;
  std::optional<double> timeout_s;
  std::optional<Model> found_model;
};

std::vector<Wanted> wanted_of_models(const std::vector<Model>& models) {
  std::vector<Wanted> out;
  for (const Model& model : models) {
    Wanted w;
    const fs::path script = model.script;
    w.command = {"bash", script.filename().string()};
    w.command.insert(w.command.end(), model.arguments.begin(), model.arguments.end());
    w.folder = script.parent_path().string();
    w.script = model.script;
    w.model = model.name;
    w.env = {{"MAD_MODEL_NAME", model.name}};
    if (model.n_gpus > 0)
      w.env.emplace_back("MAD_RUNTIME_NGPUS", fmt::format("{}", model.n_gpus));
    w.env.insert(w.env.end(), model.env_vars.begin(), model.env_vars.end());
    w.timeout_s = model.timeout_s;
    w.found_model = model;
    // if two tags select a model, its second run needs a separate folder
    const auto is_used = [&] {
      return std::ranges::any_of(out, [&](const Wanted& o) { return o.model == w.model; });
    };
    for (int n = 2; is_used(); ++n)
      w.model = fmt::format("{}_{}", model.name, n);
    out.push_back(std::move(w));
  }
  return out;
}

std::string path_of(const Plan& plan, const EnvPairs& environment) {
  for (const EnvChange& e : plan.env)
    if (e.name == "PATH" && !e.unset)
      return e.value;
  return variable(environment, "PATH");
}

/// Checks that this version has the native implementation of each tool that names one.
Result<void> check_natives(const RunRequest& run) {
  for (const ToolEntry& tool : run.plan.tools) {
    const bool made = std::any_of(run.natives.begin(), run.natives.end(), [&](const auto& native) {
      const auto names = native->names();
      return std::find(names.begin(), names.end(), tool.name) != names.end();
    });
    if (!tool.native.empty() && !made)
      return Error{ErrorCode::kUsage, tool.name,
                   fmt::format("this version has no built-in tool '{}'", tool.native),
                   "with \"native\": false, the entry's command and scripts are used"};
  }
  return {};
}

/// Returns whether a reader recognises the file as a trace, by name or first bytes.
bool readable(const std::string& path) {
  return is_trace_file(path, readers()) && inspect_file(path, readers()).trace;
}

ProfileOutcome::Report report_of(const std::string& trace, const std::string& run_folder,
                                 unsigned threads) {
  ProfileOutcome::Report out;
  out.trace = trace;
  ReportRequest request;
  request.trace = trace;
  std::string name = fs::path(trace).lexically_relative(run_folder).string();
  std::replace(name.begin(), name.end(), '/', '_');
  request.outputs.file = run_folder + "/reports/" + name + "_perf_report.xlsx";
  if (const Result<void> made = make_folder(run_folder + "/reports"); !made) {
    out.why = made.error().message();
    return out;
  }
  QuietSession session(threads); // problems of the trace are not problems of the run
  Result<TraceReport> report = report_trace(session, request);
  if (!report) {
    out.why = report.error().message();
    return out;
  }
  out.output = request.outputs.file;
  const auto problems = session.diagnostics.problems();
  out.no_gpu_events = std::ranges::any_of(
      problems, [](const auto& problem) { return problem.name == counters::no_gpu_events.key; });
  if (const Table* table = report->report.find("gpu_timeline"); table && !out.no_gpu_events)
    out.timeline = *table;
  if (const Table* table = report->report.find("kernel_summary"))
    out.kernels = *table;
  out.steps = std::move(report->steps);
  return out;
}

/// Returns the GPU architecture for counters. If there are several, returns the first and adds a
/// note.
std::string architecture(const std::string& sysfs_root, std::vector<std::string>& notes) {
  const std::vector<std::string> all = gpu_architectures(sysfs_root);
  if (all.size() > 1)
    notes.push_back(
        fmt::format("the GPUs have several architectures; the counters are chosen for {}", all[0]));
  return all.empty() ? "" : all[0];
}

/// Replaces the commands by commands that run a copy on each GPU.
Result<void> replicate(const ProfileRequest& request, std::vector<Wanted>& wanted) {
  if (!request.docker.empty())
    return Error{ErrorCode::kUsage, "--replicate-per-gcd", "does not work with --docker",
                 "run rankscope profile inside the container"};
  const char* const visible = std::getenv("HIP_VISIBLE_DEVICES"); // NOLINT(concurrency-mt-unsafe)
  RS_TRY(const auto devices,
         replica_devices(request.devices, visible == nullptr ? "" : visible, request.sysfs_root));
  for (Wanted& w : wanted)
    w.command = replicated(w.command, devices);
  return {};
}

} // namespace

Result<ToolTable> tool_table(const ProfileRequest& request, std::vector<std::string>& notes) {
  RS_TRY(ToolTable table, ToolTable::builtin());
  for (const std::string& file : request.tables)
    RS_CHECK(table.merge_file(file, notes));
  return table;
}

Result<std::vector<PreparedRun>> prepare_profile(Session& session, const ProfileRequest& request) {
  std::vector<std::string> notes;
  RS_TRY(const ProfileContext context, read_context(request.context_files, request.contexts));
  notes.insert(notes.end(), context.notes.begin(), context.notes.end());
  if (request.docker.empty() && !context.docker_gpus.empty())
    notes.emplace_back("docker_gpus has no effect without --docker: the command sees all GPUs");
  ToolTable known; // reading it takes longer than the rest of a run without tools
  if (!request.tools.empty() || !context.tools.empty() || !request.tables.empty()) {
    RS_TRY(known, tool_table(request, notes));
  }
  const auto table = std::make_shared<const ToolTable>(std::move(known));
  RS_TRY(const auto tools, asked_tools(request, *table, context, notes));
  std::vector<Wanted> wanted;
  if (!request.models.tags.empty()) {
    RS_TRY(const auto models, find_models(request.models, notes));
    wanted = wanted_of_models(models);
  } else {
    wanted.emplace_back();
    wanted.back().command = request.command;
  }
  const EnvPairs environment = current_environment();
  if (request.replicate)
    RS_CHECK(replicate(request, wanted));
  std::vector<PreparedRun> out;
  for (Wanted& w : wanted) {
    PreparedRun p;
    p.identity = {make_run_id(), w.model, request.docker, launcher_rank(environment), notes};
    p.run.out = folder_of(request, p.identity, wanted.size() > 1);
    RS_CHECK(check_folder(p.run.out, request.force));
    p.run.folder = w.folder;
    p.model = w.found_model;
    p.table = table;
    p.target.folder = w.folder;
    p.target.path = path_of({}, environment);
    ContainerOptions container{container_tool(request.container_tool),
                               request.docker,
                               request.container_arguments,
                               context,
                               tools,
                               p.run.out,
                               w.folder,
                               p.identity.run_id};
    if (!request.docker.empty())
      place_in_container(container, p.keeper, p.run.container, p.run.container_name, p.target);
    PlanRequest plan;
    plan.tools = tools;
    RS_CHECK(choose_fallbacks(p.target, plan.tools, p.identity.notes));
    RS_CHECK(place_counters(plan.tools, architecture(request.sysfs_root, p.identity.notes)));
    RS_CHECK(place_targets(request.targets, plan.tools, p.identity.notes));
    plan.context = context;
    plan.more_env = w.env;
    plan.command = w.command;
    plan.out_folder = p.run.out;
    plan.force = request.force;
    if (request.docker.empty())
      plan.environment = environment;
    RS_TRY(p.run.plan, make_plan(plan));
    if (request.docker.empty())
      p.target.path = path_of(p.run.plan, environment);
    p.run.timeout_s = request.timeout_s > 0 ? request.timeout_s
                                            : context.timeout_s.value_or(w.timeout_s.value_or(0));
    p.run.grace_s = request.grace_s;
    p.run.baseline = request.baseline;
    p.run.keep_going = request.keep_going;
    p.run.to_error = request.to_error;
    SamplerToolOptions sampler{p.run.out,        request.devices,    request.sample_rate,
                               request.dual_gcd, request.sysfs_root, environment};
    RS_TRY(auto native, make_sampler_tool(p.run.plan, sampler));
    if (native != nullptr)
      p.run.natives.push_back(std::move(native));
    if (auto library = make_library_tool(p.run.plan, p.run.out, w.model, request.hide_trace_lines);
        library != nullptr)
      p.run.natives.push_back(std::move(library));
    if (auto torch = make_torch_tool(p.run.plan, p.run.out); torch != nullptr)
      p.run.natives.push_back(std::move(torch));
    if (auto rock = make_therock_tool(p.run.plan, p.target, environment); rock != nullptr)
      p.run.natives.push_back(std::move(rock));
    RS_CHECK(check_natives(p.run));
    out.push_back(std::move(p));
  }
  for (const std::string& note : notes)
    session.warn(note);
  return out;
}

Result<std::vector<ProfileFact>> check_prepared(const PreparedRun& prepared) {
  EnvPairs environment = prepared.keeper.empty() ? current_environment() : EnvPairs();
  for (const EnvChange& e : prepared.run.plan.env)
    if (is_path_variable(e.name) && e.name != "LD_PRELOAD")
      std::erase_if(environment, [&](const auto& p) { return p.first == e.name; }),
          environment.emplace_back(e.name, e.value);
  return preflight(prepared.run.plan, prepared.target, *prepared.table, environment);
}

Result<std::vector<ProfileFact>> examine_prepared(const PreparedRun& prepared,
                                                  const ProfileRequest& request) {
  RS_TRY(auto facts, check_prepared(prepared));
  std::string why; // equal for all samplers
  bool asked = false;
  for (const ToolEntry& tool : prepared.run.plan.tools) {
    if (tool.native != "sampler")
      continue;
    if (!asked) {
      GpuBackendOptions options;
      options.sysfs_root = request.sysfs_root;
      if (const auto backend = open_gpu_backend(options); !backend)
        why = backend.error().message();
      asked = true;
    }
    if (!why.empty())
      facts.push_back({tool.name, profile::ToolNotStarted{why}});
  }
  return facts;
}

namespace {

/// Returns whether the run has rows in perf.csv: of several ranks, only the first writes.
bool writes_perf_row(const RunIdentity& identity) {
  return identity.rank <= 0;
}

/// Returns the metrics that the command printed, and adds them to the manifest. If a metric for
/// perf.csv is missing, adds a finding.
std::vector<PerfMetric> printed_metrics(const PreparedRun& prepared, const ProfileRequest& request,
                                        ProfileOutcome& out) {
  if (request.perf_csv.empty())
    return {};
  auto metrics =
      perf_metrics(prepared.run, prepared.model ? &*prepared.model : nullptr, out.identity.notes);
  if (metrics.empty() && out.result.launched && out.result.exit_status == 0)
    out.result.facts.push_back(
        {"", profile::MissingMetric{writes_perf_row(out.identity) ? request.perf_csv : ""}});
  Json list = Json::list();
  for (const PerfMetric& row : metrics) {
    list.items.push_back(Json::object(
        {{"part", row.part}, {"performance", row.performance}, {"metric", row.metric}}));
  }
  out.result.metrics.at("performance") = std::move(list);
  return metrics;
}

/// Appends one row per run and metric.
Result<void> append_perf(const PreparedRun& prepared, const ProfileRequest& request,
                         const ProfileOutcome& out, const std::vector<PerfMetric>& metrics) {
  if (request.perf_csv.empty() || !writes_perf_row(out.identity))
    return {};
  return append_perf_csv(request.perf_csv,
                         perf_csv_rows(out.identity, prepared.run, out.result,
                                       prepared.model ? &*prepared.model : nullptr, metrics,
                                       current_environment()));
}

} // namespace

Result<ProfileOutcome> run_prepared(Session& session, PreparedRun& prepared,
                                    const ProfileRequest& request) {
  if (!request.perf_csv.empty())
    RS_CHECK(check_perf_csv(request.perf_csv)); // report a bad path before the command runs
  RS_CHECK(make_folder(prepared.run.out));
  RS_TRY(const FolderLock lock, FolderLock::take(prepared.run.out, prepared.run.out, "profile"));
  prepared.run.cancel = interrupt_token();
  double teardown_s = 30;
  for (const PlanStep& step : prepared.run.plan.post)
    teardown_s += step.timeout_s + request.grace_s;
  const InterruptGrace grace(
      std::chrono::milliseconds(static_cast<std::int64_t>((teardown_s + request.grace_s) * 1000)),
      SecondSignal::kKillsChildren);
  ProfileOutcome out;
  out.identity = prepared.identity;
  out.out = prepared.run.out;
  {
    RS_TRY(const Container container,
           Container::start(prepared.keeper, prepared.run.container_name, prepared.run.out));
    RS_TRY(out.result, run_plan(prepared.run));
  }
  const std::vector<PerfMetric> metrics = printed_metrics(prepared, request, out);
  out.findings = profile_findings(prepared.run.plan.facts);
  for (Finding& finding : profile_findings(out.result.facts))
    out.findings.push_back(std::move(finding));
  RS_CHECK(write_manifest(out.identity, prepared.run, out.result, out.findings));
  RS_CHECK(append_perf(prepared, request, out, metrics));
  if (request.compat_outputs)
    RS_CHECK(place_legacy_names(out.result, "."));
  if (interrupt_token().cancelled())
    return out;
  for (const ToolResult& tool : out.result.tools)
    for (const OutputFound& file : tool.outputs.files)
      if (!file.empty() && readable(file.path))
        out.reports.push_back(report_of(file.path, out.out, session.threads));
  RS_CHECK(join_step_energy(prepared, out));
  return out;
}

} // namespace rankscope
