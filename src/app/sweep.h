// Use case: run a command under every setting of a sweep, keep what happened, and say which setting
// is best.
#pragma once

#include "app/analyze.h"
#include "app/sweep_earlier.h"
#include "base/result.h"
#include "collect/sweep_run.h"
#include "collect/sweep_summary.h"
#include "core/finding.h"
#include "engine/session.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct SweepRequest {
  std::vector<std::string> command;
  SweepKind kind = SweepKind::kOther;
  std::vector<SweepSetting> settings;
  LaunchOptions launch;
  SharedEnvironment environment;
  std::string folder; ///< "" = experiments/..., named by the time
  std::int64_t repeats = 1;
  std::int64_t warmups = 0; ///< runs of each setting before its first one; not analysed
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool keep_going = false;
  bool skip_existing = false; ///< leave folders alone that are not ours
  bool redo = false;          ///< finished runs too
  bool summary = true;
  bool analyze = false;
  std::string metric; ///< see parse_log_metric(), of run_output.log; "" = the steps of traces
  bool higher_is_better = false;       ///< of the metric
  bool search = false;                 ///< race the settings over the repeats
  std::string tuner_file;              ///< "" = none
  std::size_t default_setting = 0;     ///< that a search recommends nothing worse than
  std::chrono::milliseconds budget{0}; ///< of a search; 0 = none
  std::chrono::milliseconds pause{0};  ///< after each run
  RunOptions run;
  std::vector<std::string> notes; ///< printed before the first run
};

struct SweepPlan {
  std::string folder; ///< absolute
  std::string timestamp;
  std::vector<PlannedRun> warmups, runs; ///< in the order of settings; in that of running
};

/// Nothing is made or changed. Errors: kUsage when a parameter would change nothing.
Result<SweepPlan> plan_sweep(const SweepRequest& request);

struct FinishedSweep {
  std::string folder, summary_file;
  /// Runs of earlier sweeps in the folder, then those of this one in the order of the settings;
  /// point into `earlier`, plan and request.
  std::vector<SummaryRow> rows;
  EarlierRows earlier;
  std::size_t done = 0; ///< runs with success, now or earlier
  std::optional<AnalyzedSweep> analysis;
  std::vector<Finding> findings;
};

/// Runs the sweep. A failed run makes the session partial; without keep_going it is the last one.
/// Summary, log and manifest are always written. Errors: kOutput, kUsage (the folder contains
/// another sweep), kInterrupted.
Result<FinishedSweep> run_sweep(Session& ctx, const SweepRequest& request, const SweepPlan& plan);

} // namespace rankscope
