#include "collect/sweep_run.h"

#include "base/time_text.h"
#include "collect/run_inputs.h"
#include "collect/secrets.h"
#include "os/output_file.h"
#include "os/process.h"
#include "os/whole_file.h"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using WallClock = std::chrono::system_clock;

/// Facts about a run that are known at its start.
struct Begun {
  const PlannedRun& run;
  const SweepSetting& setting;
  const HostFacts& host;
  ClockAnchor clocks;
  WallClock::time_point time;
  std::map<std::string, std::string> inputs;
};

void write_head(JsonWriter& json, const Begun& begun) {
  const PlannedRun& run = begun.run;
  json.text("rankscope_run", run.mark());
  json.text("rankscope", RANKSCOPE_VERSION);
  json.text("setting", begun.setting.configuration.label);
  json.begin_object("parameters");
  for (const Parameter& parameter : begun.setting.configuration.parameters)
    json.text(parameter.name, parameter.value);
  json.end_object();
  if (run.repeat > 0)
    json.integer("repeat", run.repeat);
  json.texts("argv", masked_arguments(run.argv));
  const std::vector<std::string> environment = changed_environment(run.environment, run.unset);
  json.text("program", find_program(run.argv.front(), path_variable(environment)));
  std::vector<std::string> set;
  for (const auto& [name, value] : run.environment)
    set.push_back(name + "=" + value);
  write_environment(json, "set", set);
  json.texts("unset", run.unset);
  write_environment(json, "environment", environment);
  json.begin_object("inputs");
  for (const auto& [name, value] : begun.inputs)
    json.text(name, value);
  json.end_object();
  write_host(json, begun.host);
  json.text("begin", utc_text(begun.time));
  write_clocks(json, "clocks_begin", begun.clocks);
}

Result<void> write_begin(const Begun& begun) {
  JsonWriter json;
  json.begin_object();
  write_head(json, begun);
  json.text("status", "running");
  json.end_object();
  return write_with_folder(begun.run.folder + "/manifest.json", json.take());
}

Result<void> write_end(const Begun& begun, const RunOutcome& outcome, const NcclFacts& seen) {
  JsonWriter json;
  json.begin_object();
  write_head(json, begun);
  json.text("end", utc_text(WallClock::now()));
  write_clocks(json, "clocks_end", read_clock_anchor());
  json.number("seconds", outcome.seconds);
  json.text("status", status_name(outcome.status));
  if (outcome.exit_code >= 0)
    json.integer("exit_code", outcome.exit_code);
  else
    json.null("exit_code");
  if (outcome.signal > 0)
    json.integer("signal", outcome.signal);
  else
    json.null("signal");
  json.integer("left_behind", outcome.left_behind);
  json.text("problem", outcome.problem);
  if (seen.found) {
    json.begin_object("library");
    json.text("name", seen.library);
    json.text("version", seen.version);
    json.integer("ranks", seen.ranks);
    if (seen.channels) {
      json.integer("channels", *seen.channels);
      json.integer("most_channels", *seen.most_channels);
    }
    json.begin_object("environment");
    for (const auto& [name, values] : seen.environment) {
      std::string all;
      for (const auto& [value, processes] : values)
        all += (all.empty() ? "" : ", ") + value;
      json.text(name, all);
    }
    json.end_object();
    json.end_object();
  } else {
    json.null("library");
  }
  json.texts("findings", outcome.findings);
  json.boolean("took_effect", outcome.took_effect);
  json.text("lost_output", outcome.check.lost_output);
  if (outcome.energy.joules)
    json.number("joules", *outcome.energy.joules);
  if (outcome.energy.host_joules)
    json.number("host_joules", *outcome.energy.host_joules);
  json.texts("traces", trace_files_below(begun.run.folder));
  json.end_object();
  return write_with_folder(begun.run.folder + "/manifest.json", json.take());
}

NcclFacts read_library_logs(const std::string& folder) {
  std::set<std::string> paths; // in the same order on each file system
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    const std::string name = entry.path().filename().string();
    if (name == "run_output.log" || (name.starts_with("nccl_debug.") && name.ends_with(".log")))
      paths.insert(entry.path().string());
  }
  NcclFacts out;
  for (const std::string& path : paths)
    out.read_file(path);
  return out;
}

/// Removes the run's container in case it outlived its client. A missing container is not an error.
void remove_container(const PlannedRun& run) {
  ProcessSpec spec;
  spec.argv = {run.argv.front() == kComposeProgram ? "docker" : run.argv.front(), "rm", "-f",
               run.container_name};
  spec.deadline = std::chrono::seconds(30);
  (void)run_process(std::move(spec));
}

void judge_end(const ProcessEnd& end, const RunOptions& options, RunOutcome& out) {
  out.exit_code = end.exit_code;
  out.signal = end.signal;
  out.seconds = end.seconds;
  out.left_behind = end.left_behind;
  if (end.cancelled) {
    out.status = RunStatus::kInterrupted;
    out.problem = "it was interrupted";
  } else if (end.timed_out) {
    out.status = RunStatus::kTimeout;
    out.problem = fmt::format("it did not end within {} s",
                              std::chrono::duration<double>(options.timeout).count());
  } else if (end.exit_code != 0) {
    out.status = RunStatus::kFailed;
    out.problem = end.signal != 0 ? fmt::format("it ended by signal {} ({})", end.signal,
                                                ::strsignal(end.signal))
                                  : fmt::format("exit code {}", end.exit_code);
  } else {
    out.status = RunStatus::kSuccess;
  }
  out.check.left_behind = end.left_behind;
  out.check.killed = end.killed;
  out.check.grace_s = std::chrono::duration<double>(options.grace).count();
  out.check.lost_output = end.lost_text;
}

/// Starts sampling into the run's folder. If the power of this machine cannot be read, that is a
/// finding, because the run itself does not depend on it.
std::unique_ptr<Sampler> start_sampling(const RunOptions& options, const std::string& folder,
                                        RunOutcome& out) {
  if (!options.sampler)
    return nullptr;
  SamplerOptions sampling = *options.sampler;
  sampling.samples_csv = folder + "/gpu_samples.csv";
  sampling.host_csv = folder + "/host_samples.csv";
  Result<std::unique_ptr<Sampler>> started = Sampler::start(std::move(sampling));
  if (!started) {
    out.check.no_energy = started.error().message();
    return nullptr;
  }
  (*started)->phase(Phase::kRun);
  return std::move(*started);
}

void end_sampling(Sampler& sampler, RunOutcome& out) {
  const Result<SamplerSummary> summary = sampler.stop();
  if (!summary)
    return;
  bool all = !summary->gpus.empty();
  double joules = 0;
  for (const GpuSummary& gpu : summary->gpus)
    if (!gpu.gpu.secondary()) { // the sensor of another GPU measures secondary dies
      all = all && gpu.joules;
      joules += gpu.joules.value_or(0);
    }
  if (all)
    out.energy.joules = joules;
  const HostSummary& host = summary->host;
  if (host.cpu_joules || host.dram_joules)
    out.energy.host_joules = host.cpu_joules.value_or(0) + host.dram_joules.value_or(0);
  out.check.energy = energy_doubts(*summary);
  if (summary->write_error)
    out.check.lost_samples = summary->write_error->message();
}

} // namespace

const char* status_name(RunStatus status) {
  switch (status) {
  case RunStatus::kSuccess:
    return "success";
  case RunStatus::kFailed:
    return "failed";
  case RunStatus::kTimeout:
    return "timeout";
  case RunStatus::kInterrupted:
    return "interrupted";
  case RunStatus::kSkipped:
    break;
  }
  return "skipped";
}

Result<RunOutcome> run_setting(const PlannedRun& run, const SweepSetting& setting,
                               const RunOptions& options) {
  RS_CHECK(make_folder(run.folder));
  const Begun begun{
      run, setting, options.host, read_clock_anchor(), WallClock::now(), read_run_inputs(run)};
  RS_CHECK(write_begin(begun));
  ProcessSpec spec;
  spec.argv = run.argv;
  spec.set_env = run.environment;
  spec.unset_env = run.unset;
  spec.out = Stream::kPipe;
  spec.err = Stream::kLikeOut;
  spec.out_file = run.folder + "/run_output.log";
  spec.echo_out = options.echo;
  spec.guarded = true;
  spec.deadline = options.timeout;
  spec.grace = options.grace;
  spec.cancel = options.cancel;
  RunOutcome out;
  const std::unique_ptr<Sampler> sampler = start_sampling(options, run.folder, out);
  const Result<ProcessEnd> end = run_process(std::move(spec));
  if (sampler)
    end_sampling(*sampler, out);
  if (end)
    judge_end(*end, options, out);
  else
    out.problem = end.error().message();
  if (!run.container_name.empty() && out.status != RunStatus::kSuccess)
    remove_container(run);
  const NcclFacts seen = read_library_logs(run.folder);
  if (options.check_library && out.status == RunStatus::kSuccess) {
    out.check.library = check_setting(seen, setting);
    out.took_effect = out.check.library.took_effect();
  }
  if (options.describe)
    out.findings = options.describe(run.label, out.check);
  RS_CHECK(write_end(begun, out, seen));
  return out;
}

Result<EarlierRun> clear_place(const PlannedRun& run, const std::string& aside, bool redo) {
  EarlierRun out;
  std::error_code ec;
  if (!fs::exists(run.folder, ec) || fs::is_empty(run.folder, ec))
    return out;
  out.saved = read_run_manifest(run.folder + "/manifest.json");
  if (out.saved.status == status_name(RunStatus::kSuccess) && !redo) {
    out.why = difference_to_saved(out.saved, run);
    out.kind = out.why.empty() ? Earlier::kFinished : Earlier::kOther;
    if (const std::string gone = missing_trace(out.saved, run);
        out.kind == Earlier::kFinished && !gone.empty())
      out.why = fmt::format("its trace {} no longer exists", gone);
    else
      return out;
  }
  out.kind = Earlier::kMovedAside;
  RS_CHECK(make_folder(fs::path(aside).parent_path().string()));
  for (int n = 1;; ++n) {
    out.aside = fmt::format("{}.{}", aside, n);
    if (!fs::exists(out.aside, ec))
      break;
  }
  fs::rename(run.folder, out.aside, ec);
  if (ec)
    return Error{ErrorCode::kOutput, run.folder,
                 fmt::format("cannot be moved to {}: {}", out.aside, ec.message()), ""};
  return out;
}

} // namespace rankscope
