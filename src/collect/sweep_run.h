// One run of a sweep: starts the command, shows and stores its output, ends all its processes in
// time, reads the library's log, and writes the manifest before and after the run.
#pragma once

#include "base/result.h"
#include "collect/nccl_log.h"
#include "collect/run_manifest.h"
#include "collect/samplers/sampler.h"
#include "collect/sweep_launch.h"
#include "core/run_check.h"
#include "os/tasks.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

enum class RunStatus { kSuccess, kFailed, kTimeout, kInterrupted, kSkipped };
/// Returns the name that manifests use, such as "success".
[[nodiscard]] const char* status_name(RunStatus status);

struct RunOptions {
  std::chrono::milliseconds timeout{0}; ///< 0 = no limit
  std::chrono::milliseconds grace{10'000};
  bool echo = true; ///< also write the run's output to our standard output
  CancelToken cancel;
  HostFacts host;
  bool check_library = true; ///< compare the setting with the library's log
  /// If set, power on this machine is sampled during each run, into files in the run's folder.
  std::optional<SamplerOptions> sampler;
  /// Returns sentences about the run with this label, for its manifest. If not set, there are no
  /// sentences.
  std::function<std::vector<std::string>(const std::string& run, const RunCheck& check)> describe;
};

struct RunOutcome {
  RunStatus status = RunStatus::kFailed;
  int exit_code = -1; ///< -1: ended by a signal, or never started
  int signal = 0;
  double seconds = 0;
  int left_behind = 0;
  std::string problem; ///< why the run did not succeed; "" = it succeeded
  RunCheck check;
  std::vector<std::string> findings; ///< result of RunOptions::describe() for `check`
  bool took_effect = true; ///< false: the library's log shows other values than the setting's
  SampledEnergy energy;    ///< measured with RunOptions::sampler
};

/// Runs the setting and writes run_output.log (both streams), nccl_debug.*.log and manifest.json
/// into the run's folder, which is created. A failed run is an outcome, not an error. Errors:
/// kOutput when nothing can be written there.
Result<RunOutcome> run_setting(const PlannedRun& run, const SweepSetting& setting,
                               const RunOptions& options);

/// Content that an earlier sweep left in the run's folder. A finished run with the same mark is
/// reused. Content without a finished run is renamed to `aside` plus a number, so that nothing is
/// lost. With `redo`, a finished run is renamed too.
enum class Earlier { kNothing, kFinished, kOther, kMovedAside };
struct EarlierRun {
  Earlier kind = Earlier::kNothing;
  SavedRun saved;
  std::string aside; ///< new path of the earlier content
  /// kOther: what differs (command, environment or input file). kMovedAside: why a finished run is
  /// not reused.
  std::string why;
};
/// Finds an earlier run in the run's folder and moves it aside if needed. kOther: a finished run of
/// another command, environment or input file, which is not moved. A finished run whose traces are
/// gone is moved aside. Errors: kOutput.
Result<EarlierRun> clear_place(const PlannedRun& run, const std::string& aside, bool redo);

} // namespace rankscope
