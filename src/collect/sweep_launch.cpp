#include "collect/sweep_launch.h"

#include "base/ascii.h"
#include "base/fnv.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

using Words = std::vector<std::string>;

void append(Words& to, const Words& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string assignment(const std::pair<std::string, std::string>& change) {
  return change.first + "=" + change.second;
}

/// Returns the command with the launcher in front.
Words launched(const Words& command, const LaunchOptions& launch,
               const EnvironmentChanges& environment) {
  if (launch.launcher.empty())
    return command;
  const std::string n = std::to_string(launch.processes);
  Words out = {launch.launcher};
  if (launch.launcher == "torchrun") {
    append(out, {"--nproc_per_node", n});
    append(out, launch.launcher_arguments);
    if (!command.front().ends_with(".py")) // else torchrun would run the command with python
      out.emplace_back("--no-python");
  } else if (launch.launcher == "mpirun") {
    append(out, {"-np", n});
    // processes on other hosts do not inherit our environment
    for (const auto& change : environment)
      append(out, {"-x", change.first});
    append(out, launch.launcher_arguments);
  } else {
    append(out, {"--ntasks", n, "--export", "ALL"});
    append(out, launch.launcher_arguments);
  }
  append(out, command);
  return out;
}

Words profiled(const Words& command, const LaunchOptions& launch, const std::string& folder) {
  if (!launch.rocprof)
    return command;
  Words out = {"rocprofv3"};
  if (!launch.rocprof_input.empty()) {
    append(out, {"-i", launch.rocprof_input});
  } else {
    out.emplace_back("--kernel-trace");
    if (launch.rocprof_stats)
      out.emplace_back("--stats");
  }
  append(out, {"-d", folder + "/rocprof_traces", "--"});
  append(out, command);
  return out;
}

/// Returns the command in a container that mounts the current folder and the run's folder at the
/// same paths. Variables that the run sets are passed by name and value, because the container does
/// not inherit them.
Words contained(const Words& command, const LaunchOptions& launch, PlannedRun& run) {
  constexpr std::string_view kCompose = "compose:";
  std::error_code ec;
  const std::string here = std::filesystem::current_path(ec).string();
  const bool compose = launch.container.starts_with(kCompose);
  run.container_name = "rankscope-" + fnv64_hex(run.folder);
  const Words mounts = {here + ":" + here, run.folder + ":" + run.folder};
  Words out;
  if (compose) {
    out = {launch.container_tool};
    if (launch.container_tool != kComposeProgram)
      out.emplace_back("compose");
    if (!launch.compose_file.empty())
      append(out, {"-f", launch.compose_file});
    append(out, {"run", "--rm", "-T", "--name", run.container_name, "-w", here});
    for (const std::string& mount : mounts)
      append(out, {"-v", mount});
  } else {
    out = container_run_words(
        {launch.container_tool, run.container_name, here, mounts, {}, launch.gpus});
  }
  for (const auto& change : run.environment)
    append(out, {"-e", assignment(change)});
  append(out, launch.container_arguments);
  out.push_back(compose ? launch.container.substr(kCompose.size()) : launch.container);
  append(out, command);
  return out;
}

} // namespace

std::string PlannedRun::mark() const {
  Fnv64 hash;
  const auto add = [&](std::string text) {
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
      text.replace(at, folder.size(), "{out}");
    hash.update(text);
    hash.update(std::string_view("\0", 1));
  };
  for (const std::string& word : argv)
    if (container_name.empty() || word != container_name)
      add(word);
  for (const auto& change : environment)
    if (!change.first.starts_with("NCCL_DEBUG"))
      add(assignment(change));
  for (const std::string& name : unset)
    add(fmt::format("-{}", name));
  return hash.hex();
}

std::string with_values(std::string_view text, const SweepSetting& setting,
                        const std::string& folder, std::int64_t repeat) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      const std::string_view name = text.substr(at + 1, end - at - 1);
      const auto value = setting.configuration.text(name);
      if (value || name == "out" || name == "repeat") {
        out += value           ? std::string(*value)
               : name == "out" ? folder
                               : std::to_string(std::max<std::int64_t>(repeat, 1));
        at = end + 1;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

PlannedRun plan_run(const std::vector<std::string>& command, const SweepSetting& setting,
                    const LaunchOptions& launch, const SharedEnvironment& shared,
                    const std::string& folder, std::int64_t repeat) {
  PlannedRun run;
  run.repeat = repeat;
  run.folder = folder;
  run.label = setting.configuration.label;
  if (repeat > 0)
    run.label += fmt::format(", repeat {}", repeat);
  run.environment = shared.before;
  for (const auto& [parameter, changes] : setting.environment)
    run.environment.insert(run.environment.end(), changes.begin(), changes.end());
  // variables that the setting unsets must not be set by earlier changes
  std::erase_if(run.environment, [&setting](const auto& change) {
    return std::ranges::find(setting.unset, change.first) != setting.unset.end();
  });
  if (shared.library_log) {
    run.environment.emplace_back("NCCL_DEBUG", "INFO");
    run.environment.emplace_back("NCCL_DEBUG_SUBSYS", "INIT,ENV");
    run.environment.emplace_back("NCCL_DEBUG_FILE", folder + "/nccl_debug.%h.%p.log");
  }
  run.environment.emplace_back("RANKSCOPE_RUN_DIR", folder);
  for (const auto& [name, value] : shared.over)
    run.environment.emplace_back(name, with_values(value, setting, folder, repeat));
  // each name once, with its last value, so that the shown environment is the one that is set
  EnvironmentChanges once;
  for (auto at = run.environment.rbegin(); at != run.environment.rend(); ++at)
    if (std::ranges::none_of(once, [&](const auto& change) { return change.first == at->first; }) &&
        std::ranges::find(shared.unset, at->first) == shared.unset.end())
      once.push_back(*at);
  run.environment.assign(once.rbegin(), once.rend());
  run.unset = shared.unset;
  run.unset.insert(run.unset.end(), setting.unset.begin(), setting.unset.end());
  Words words;
  for (const std::string& word : command)
    words.push_back(with_values(word, setting, folder, repeat));
  // srun and mpirun start separate tasks, on other hosts too, so the profiler runs in each task
  const bool by_task = launch.launcher == "srun" || launch.launcher == "mpirun";
  words = by_task ? launched(profiled(words, launch, folder), launch, run.environment)
                  : profiled(launched(words, launch, run.environment), launch, folder);
  run.argv = launch.container.empty() ? std::move(words) : contained(words, launch, run);
  return run;
}

std::vector<std::string> unused_parameters(const std::vector<SweepSetting>& settings,
                                           const std::vector<std::string>& command,
                                           const SharedEnvironment& shared) {
  std::vector<std::string> out;
  if (settings.empty())
    return out;
  for (const Parameter& parameter : settings.front().configuration.parameters) {
    const std::string place = fmt::format("{{{}}}", parameter.name);
    const auto holds = [&](const std::string& text) { return contains(text, place); };
    const bool sets = std::ranges::any_of(
        settings, [&](const SweepSetting& s) { return s.environment.count(parameter.name) != 0; });
    if (!sets && std::ranges::none_of(command, holds) &&
        std::ranges::none_of(shared.over, [&](const auto& change) { return holds(change.second); }))
      out.push_back(parameter.name);
  }
  return out;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,=@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string out = "'";
  for (const char c : word)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + "'";
}

std::string shell_command(const PlannedRun& run) {
  std::string out = "env";
  for (const std::string& name : run.unset)
    out += fmt::format(" -u {}", shell_quoted(name));
  for (const auto& [name, value] : run.environment)
    out += fmt::format(" {}={}", name, shell_quoted(value));
  for (const std::string& word : run.argv)
    out += fmt::format(" {}", shell_quoted(word));
  return out;
}

} // namespace rankscope
