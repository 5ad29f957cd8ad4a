// One run of a sweep: starts it, shows and stores its output, ends all its processes in time, reads
// back what the library used, and writes the manifest before and after the run.
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
/// "success", as manifests say it.
[[nodiscard]] const char* status_name(RunStatus status);

struct RunOptions {
  std::chrono::milliseconds timeout{0}; ///< 0 = none
  std::chrono::milliseconds grace{10'000};
  bool echo = true; ///< its output on our standard output too
  CancelToken cancel;
  HostFacts host;
  bool check_library = true; ///< what the setting asked for against the library's log
  /// Samples power on this machine during each run; the files are those of the run's folder.
  std::optional<SamplerOptions> sampler;
  /// Sentences about a run, by its label; for its manifest. Not set: none.
  std::function<std::vector<std::string>(const std::string& run, const RunCheck& check)> describe;
};

struct RunOutcome {
  RunStatus status = RunStatus::kFailed;
  int exit_code = -1; ///< -1: by a signal, or it never began
  int signal = 0;
  double seconds = 0;
  int left_behind = 0;
  std::string problem; ///< why it did not succeed; "" = it did
  RunCheck check;
  std::vector<std::string> findings; ///< as RunOptions::describe() says of `check`
  bool took_effect = true; ///< false: the library's log shows other values than the setting's
  SampledEnergy energy;    ///< with RunOptions::sampler
};

/// run_output.log (both streams), nccl_debug.*.log and manifest.json in the run's folder, which is
/// made. A run that fails is an outcome. Errors: kOutput when nothing can be written there.
Result<RunOutcome> run_setting(const PlannedRun& run, const SweepSetting& setting,
                               const RunOptions& options);

/// Content that an earlier sweep left in the run's folder. A finished run with the same mark is
/// reused; anything else is moved below `aside` (a number after its name), so that nothing is lost.
/// `redo` moves a finished run too.
enum class Earlier { kNothing, kFinished, kOther, kMovedAside };
struct EarlierRun {
  Earlier kind = Earlier::kNothing;
  SavedRun saved;
  std::string aside; ///< where it is now
  std::string why;   ///< kOther: what differs; kMovedAside: why a finished one is not reused
};
/// kOther: a finished run of another command, environment or input file; nothing was moved. A
/// finished run whose traces are gone is moved aside. Errors: kOutput.
Result<EarlierRun> clear_place(const PlannedRun& run, const std::string& aside, bool redo);

} // namespace rankscope
