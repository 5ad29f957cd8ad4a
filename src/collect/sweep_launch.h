// Turns a command and a setting into the argument list and environment of a run: placeholders,
// launcher, profiler, container. Never builds a shell string.
#pragma once

#include "base/result.h"
#include "collect/container_run.h"
#include "collect/sweep_settings.h"
#include "os/environment.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The compose program to use if docker has no compose plugin.
inline constexpr const char* kComposeProgram = "docker-compose";

struct LaunchOptions {
  std::string launcher; ///< torchrun, mpirun, srun, or "" = no launcher
  std::int64_t processes = 8;
  std::vector<std::string> launcher_arguments;
  bool rocprof = false;
  bool rocprof_stats = false;
  std::string rocprof_input;  ///< rocprofv3 -i FILE
  std::string container;      ///< IMAGE or compose:SERVICE; "" = on this host
  std::string container_tool; ///< docker, podman or docker-compose
  std::string compose_file;
  std::vector<std::string> container_arguments;
  ContainerGpus gpus; ///< for the container
};

/// Variables of every run. A setting overrides `before`; `over` comes from the user and overrides
/// the setting.
struct SharedEnvironment {
  EnvironmentChanges before, over;
  std::vector<std::string> unset;
  bool library_log = true; ///< log NCCL_DEBUG=INFO to a file per run
};

struct PlannedRun {
  std::size_t setting = 0; ///< index
  std::int64_t repeat = 0; ///< from 1; 0 = the sweep has no repeats
  std::string label;       ///< label of the setting, with the repeat
  std::string folder;      ///< absolute
  std::vector<std::string> argv;
  EnvironmentChanges environment; ///< changes to our environment
  std::vector<std::string> unset;
  std::string container_name; ///< "" = no container

  /// Returns the argument list and environment without the paths of the run's outputs. Two runs
  /// with the same mark are the same run.
  [[nodiscard]] std::string mark() const;
};

/// Replaces {out} (the folder of the run), {repeat} and {NAME} of each parameter by their values.
/// Other braces are unchanged.
[[nodiscard]] std::string with_values(std::string_view text, const SweepSetting& setting,
                                      const std::string& folder, std::int64_t repeat);

/// Plans a complete run. `folder` is absolute.
[[nodiscard]] PlannedRun plan_run(const std::vector<std::string>& command,
                                  const SweepSetting& setting, const LaunchOptions& launch,
                                  const SharedEnvironment& shared, const std::string& folder,
                                  std::int64_t repeat);

/// Returns parameters that would change nothing: they set no variable, and neither the command nor
/// the shared environment uses them.
[[nodiscard]] std::vector<std::string> unused_parameters(const std::vector<SweepSetting>& settings,
                                                         const std::vector<std::string>& command,
                                                         const SharedEnvironment& shared);

/// Quotes one word of a command for a POSIX shell; a safe word is unchanged.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// Returns `env -u A B=C program arguments`, which can be pasted into a shell.
[[nodiscard]] std::string shell_command(const PlannedRun& run);

} // namespace rankscope
