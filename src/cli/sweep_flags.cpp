#include "cli/sweep_flags.h"

#include "app/sweep_energy.h"
#include "collect/log_metric.h"
#include "os/environment.h"
#include "os/process.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

Error usage(const std::string& where, const std::string& what, const std::string& hint = "") {
  return {ErrorCode::kUsage, where, what, hint};
}

bool is_number_list(const std::string& text) {
  return text.find_first_not_of("0123456789, ") == std::string::npos;
}

/// Resolves two short flags. -c names channels or, as in the warp-speed script, the training's
/// configuration. -p names pairs or, as in the sweep script, the number of processes.
Result<void> sort_out_short_flags(SweepFlags& f) {
  if (!f.channels.empty() && !is_number_list(f.channels)) {
    if (!f.config.empty())
      return usage("-c", fmt::format("'{}' is not a list of channels", f.channels));
    f.config = std::exchange(f.channels, "");
  }
  if (!f.pairs.empty() && f.pairs.find_first_not_of("0123456789") == std::string::npos) {
    RS_TRY(const auto n, number_list(f.pairs, "-p"));
    f.request.launch.processes = n.front();
    f.pairs.clear();
  }
  return {};
}

Result<void> choose_settings(SweepFlags& f) {
  SweepRequest& r = f.request;
  const bool pairs = f.warp_speed || !f.pairs.empty();
  const bool grid = !f.channels.empty() || !f.threads.empty() ||
                    (!pairs && f.matrix.empty() && r.command.empty());
  if (pairs && grid)
    return usage("-p", "pairs of compute units and threads exclude -c and -t");
  if (!pairs && !grid && f.matrix.empty())
    return usage("", "needs settings: -c and -t, -p or --matrix");
  if (grid) {
    RS_TRY(const auto channels, number_list(f.channels.empty() ? "28,42,56,70" : f.channels, "-c"));
    RS_TRY(const auto threads, number_list(f.threads.empty() ? "256,512" : f.threads, "-t"));
    r.settings = grid_settings(threads, channels, f.exact_channels);
  } else if (pairs) {
    RS_TRY(const auto list, pair_list(f.pairs.empty() ? "56,256 37,384 32,512" : f.pairs));
    r.settings = pair_settings(list);
  }
  r.kind = !f.matrix.empty() ? SweepKind::kOther
           : grid            ? SweepKind::kThreadsChannels
                             : SweepKind::kCuPairs;
  if (!f.matrix.empty()) {
    RS_TRY(const auto matrix, matrix_settings(f.matrix));
    RS_TRY(r.settings,
           combined(r.settings.empty() ? std::vector<SweepSetting>{SweepSetting{}} : r.settings,
                    matrix));
  }
  if (pairs)
    r.environment.before = {{"RCCL_WARP_SPEED_ENABLE", "1"}, {"RCCL_UNROLL_FACTOR", "1"}};
  if (pairs || grid) {
    r.environment.before.emplace_back("HSA_ENABLE_SDMA", "0");
    r.environment.before.emplace_back("PYTORCH_ROCM_PROFILER_ENABLE_TRACING", "1");
  }
  return {};
}

Result<void> choose_environment(SweepFlags& f) {
  for (const std::string& text : f.set) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0)
      return usage("--env", fmt::format("'{}' is not NAME=VALUE", text));
    const std::string name = text.substr(0, at);
    for (const SweepSetting& setting : f.request.settings)
      for (const auto& [parameter, changes] : setting.environment)
        if (std::ranges::any_of(changes, [&](const auto& change) { return change.first == name; }))
          return usage("--env", fmt::format("{} is varied by the parameter {}", name, parameter),
                       "remove the variable or the parameter");
    f.request.environment.over.emplace_back(name, text.substr(at + 1));
  }
  f.request.environment.unset = f.unset;
  f.request.environment.library_log = !f.no_library_log;
  return {};
}

/// Chooses the command after `--`, or the training of the scripts.
Result<void> choose_command(SweepFlags& f) {
  SweepRequest& r = f.request;
  if (!r.command.empty()) {
    if (!f.config.empty())
      return usage("-f", "is only for train.py, which runs if there is no command after --");
    if (r.launch.launcher.empty() && r.launch.processes != LaunchOptions().processes)
      return usage("--nproc", "needs a launcher", "choose one with --launcher");
    return {};
  }
  std::error_code ec;
  if (!std::filesystem::exists("train.py", ec))
    return usage("", "no command to run",
                 "write it after --: rankscope sweep -c 28,56 -t 256,512 -- COMMAND");
  if (r.launch.launcher.empty())
    r.launch.launcher = "torchrun";
  r.command = {"train.py",
               "--config",
               f.config.empty() ? "config/distributed.yaml" : f.config,
               "--override",
               "profiling.tensorboard=false",
               "training.output_dir={out}"};
  return {};
}

/// Returns whether "docker compose" is a command; compose 1 is a separate program.
bool has_compose_plugin(const std::string& tool) {
  ProcessSpec spec;
  spec.argv = {tool, "compose", "version"};
  spec.out = spec.err = Stream::kCapture;
  spec.deadline = std::chrono::seconds(20);
  const Result<ProcessEnd> end = run_process(std::move(spec));
  return (end && end->ok()) ||
         find_program(kComposeProgram, path_variable(changed_environment({}, {}))).empty();
}

Result<void> choose_container(SweepRequest& r) {
  LaunchOptions& l = r.launch;
  if (l.container.empty())
    return {};
  if (l.container == "compose:")
    return usage("--container", "compose:SERVICE needs the name of a service");
  const bool asked = !l.container_tool.empty();
  l.container_tool = container_tool(l.container_tool);
  l.gpus = machine_gpus();
  if (!asked && l.container.starts_with("compose:") && !has_compose_plugin(l.container_tool))
    l.container_tool = kComposeProgram;
  return {};
}

/// Chooses the metric. The best setting has the largest value if the metric is a throughput, unless
/// a flag says otherwise.
Result<void> choose_metric(SweepFlags& f) {
  SweepRequest& r = f.request;
  if (r.metric.empty()) {
    if (f.higher_is_better || f.lower_is_better)
      return usage("--higher-is-better", "needs --metric");
    return {};
  }
  if (f.higher_is_better && f.lower_is_better)
    return usage("--higher-is-better", "excludes --lower-is-better");
  RS_TRY(const LogMetric metric, parse_log_metric(r.metric));
  r.higher_is_better =
      f.higher_is_better || (metric.kind == MetricKind::kLargest && !f.lower_is_better);
  return {};
}

/// Sets the rounds and the default setting of a search.
Result<void> choose_search(SweepFlags& f) {
  constexpr std::int64_t kRounds = 8;
  SweepRequest& r = f.request;
  if (r.search && r.settings.size() < 2)
    return usage("--search", "needs at least two settings");
  if (r.search && r.repeats == 1)
    r.repeats = kRounds;
  if (!r.search && f.budget_min > 0)
    return usage("--budget", "needs --search");
  r.budget = std::chrono::milliseconds(static_cast<std::int64_t>(f.budget_min * 60'000));
  r.analyze = r.analyze || !r.tuner_file.empty();
  if (f.default_label.empty())
    return {};
  const auto at = std::ranges::find_if(
      r.settings, [&](const SweepSetting& s) { return s.configuration.label == f.default_label; });
  if (at == r.settings.end())
    return usage("--default", fmt::format("there is no setting '{}'", f.default_label),
                 "--dry-run lists the settings");
  r.default_setting = static_cast<std::size_t>(at - r.settings.begin());
  return {};
}

void add_varied(FlagSet& app, SweepFlags& f) {
  app.add(options::channels.also("-c,"), f.channels,
          "NCCL channels (28,42,56,70 if only -t is given)");
  app.add(options::threads.also("-t,"), f.threads,
          "threads per block (256,512 if only -c is given)");
  app.add_flag("--exact-channels", f.exact_channels,
               "also set NCCL_MIN_NCHANNELS; otherwise -c is an upper limit");
  app.add_option("-p,--pairs", f.pairs,
                 "pairs of CUs and threads for RCCL's warp speed: \"CUS,THREADS ...\"");
  app.add_flag("--warp-speed", f.warp_speed, "use the default pairs: 56,256 37,384 32,512");
  app.add_option("--matrix", f.matrix, "JSON file of named parameters (see docs/sweep.md)");
}

void add_launch(FlagSet& app, SweepFlags& f) {
  LaunchOptions& l = f.request.launch;
  app.add_option("--launcher", l.launcher, "start the command with torchrun, mpirun or srun")
      .one_of({"torchrun", "mpirun", "srun"});
  app.add_option("--nproc", l.processes, "number of processes").positive().capture_default_str();
  app.add_option("--launcher-arg", l.launcher_arguments,
                 "extra launcher argument (repeatable; --launcher-arg=-x)");
  app.add(options::config.also("-f,"), f.config,
          "configuration of train.py, which runs if no command is given");
  app.add_option("--env", f.set, "set a variable in every run, NAME=VALUE (repeatable)");
  app.add_option("--unset", f.unset, "remove a variable from every run (repeatable)");
  app.add_option("--container", l.container, "run in this container: IMAGE or compose:SERVICE");
  app.add(options::container_tool, l.container_tool);
  app.add_option("--compose-file", l.compose_file, "compose file of the service");
  app.add(options::container_arg, l.container_arguments);
  app.add_flag("-r,--rocprof", l.rocprof, "run under rocprofv3 --kernel-trace");
  app.add_flag("-m,--stats", l.rocprof_stats, "use rocprofv3 --stats");
  app.add_option("--rocprof-input", l.rocprof_input, "use rocprofv3 -i FILE");
  app.add_flag("--no-nccl-log", f.no_library_log,
               "do not set NCCL_DEBUG=INFO; settings are then not verified");
}

void add_course(FlagSet& app, SweepFlags& f) {
  SweepRequest& r = f.request;
  app.add(options::repeats, r.repeats,
          "runs per setting (with --search: 8 by default); all settings run once before the next "
          "repeat")
      .capture_default_str();
  app.add_flag("--shuffle", r.shuffle, "shuffle the settings; use a new order for each repeat");
  app.add(options::seed, r.seed, "seed of the random order").capture_default_str();
  app.add_option("--warmup", r.warmups,
                 "warm-up runs per setting before its first run; they are not counted")
      .not_negative();
  app.add(options::timeout, f.timeout_s, "time limit per run, seconds (0: no limit)")
      .capture_default_str();
  app.add(options::grace, f.grace_s).capture_default_str();
  app.add_option("--pause", f.pause_s, "seconds to wait after each run");
  app.add(options::keep_going, r.keep_going, "continue after a failed run");
  app.add_flag("-s,--skip-existing", r.skip_existing,
               "skip runs whose folder exists and was not made by rankscope sweep");
  app.add_flag("--redo", r.redo, "run finished runs again; the old results are moved aside");
  app.add(options::dry_run, f.dry_run);
}

void add_sampling(FlagSet& app, SweepFlags& f) {
  app.add_flag("--sample", f.sample,
               "sample power on this machine during each run; compare the settings' energy");
  app.add_option("--sample-period", f.sample_period, "time between samples: 0.1 (seconds), 10ms")
      .capture_default_str();
  app.add_option("--sample-devices", f.sampling.devices,
                 "GPUs to sample, as in rankscope sample --devices")
      .capture_default_str();
  app.add(options::sysfs_root, f.sampling.backend.sysfs_root).capture_default_str();
  app.add(options::nvml, f.sampling.backend.nvml);
}

/// Checks before the first run whether the energy of the runs can be measured.
Result<void> choose_sampling(SweepFlags& f) {
  if (!f.sample || f.dry_run)
    return {};
  RS_TRY(f.sampling.period, parse_period(f.sample_period));
  RS_TRY(f.request.run.sampler, sampling_of_runs(f.sampling, f.request.notes));
  return {};
}

void add_search(FlagSet& app, SweepFlags& f) {
  app.add_flag("--search", f.request.search,
               "successive elimination: stop running settings that are significantly worse");
  app.add_option("--budget", f.budget_min,
                 "time limit of the search, minutes (0: only --repeats limits it)");
  app.add_option("--default", f.default_label, "setting to compare with (default: the first)");
  app.add_option(
      "--write-tuner", f.request.tuner_file,
      "write a tuner file for NCCL and RCCL, from a sweep over NCCL_ALGO, NCCL_PROTO and -c");
  app.add_option(
      "--metric", f.request.metric,
      "metric of a run: [max:|min:|median:|last:][skip=N:]EXPRESSION; group 1 is a number in "
      "run_output.log (default: mean of these numbers; without --metric: step time in the traces)");
  app.add_flag("--higher-is-better", f.higher_is_better,
               "larger values are better (default with max:)");
  app.add_flag("--lower-is-better", f.lower_is_better,
               "smaller values are better (default without max:)");
}

} // namespace

void add_sweep_flags(FlagSet& app, SweepFlags& f) {
  in_group(app, "Settings", [&] { add_varied(app, f); });
  in_group(app, "Launch", [&] { add_launch(app, f); });
  in_group(app, "Order and limits", [&] { add_course(app, f); });
  in_group(app, "Energy", [&] { add_sampling(app, f); });
  in_group(app, "Search", [&] { add_search(app, f); });
  in_group(app, "Output", [&] {
    app.add(options::output, f.request.folder,
            "folder of the sweep (default: experiments/sweep_DATE_TIME); an existing "
            "sweep is resumed");
    app.add(options::output_dir, f.request.folder, "same as --output").group("");
    app.add_flag("--analyze", f.request.analyze,
                 "write reports after each run and name the best setting");
    app.add_flag("--no-echo", f.no_echo, "do not print the output of the runs");
    app.add_flag("-n,--no-aggregate", f.no_summary, "write no summary file");
  });
}

Result<void> read_sweep_flags(const std::vector<std::string>& program, SweepFlags& f) {
  SweepRequest& r = f.request;
  r.command = program;
  RS_CHECK(sort_out_short_flags(f));
  RS_CHECK(choose_settings(f));
  RS_CHECK(choose_environment(f));
  RS_CHECK(choose_command(f));
  RS_CHECK(choose_container(r));
  RS_CHECK(choose_metric(f));
  RS_CHECK(choose_search(f));
  RS_CHECK(choose_sampling(f));
  if (r.repeats < 1)
    return usage("--repeats", "expected 1 or more");
  if (!r.launch.rocprof && (r.launch.rocprof_stats || !r.launch.rocprof_input.empty()))
    r.launch.rocprof = true;
  const auto ms = [](double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::max(seconds, 0.0) * 1000));
  };
  r.run.timeout = ms(f.timeout_s);
  r.run.grace = ms(f.grace_s);
  r.pause = ms(f.pause_s);
  r.summary = !f.no_summary;
  r.run.check_library = !f.no_library_log;
  return {};
}

} // namespace rankscope
