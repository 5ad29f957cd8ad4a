// Use case: run a command with every setting of a sweep, record the results, and report the best
// setting.
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
  std::string folder; ///< "" = experiments/..., named after the current time
  std::int64_t repeats = 1;
  std::int64_t warmups = 0; ///< runs before the first run of each setting; not analysed
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool keep_going = false;
  bool skip_existing = false; ///< skip runs whose folder exists without a manifest
  bool redo = false;          ///< also redo finished runs
  bool summary = true;
  bool analyze = false;
  std::string metric; ///< see parse_log_metric(), from run_output.log; "" = step times of traces
  bool higher_is_better = false; ///< higher values of the metric are better
  /// Successive elimination over the repeats: settings that are significantly worse are not run
  /// again.
  bool search = false;
  std::string tuner_file; ///< file to write; "" = none
  /// A search recommends no setting that is worse than this one.
  std::size_t default_setting = 0;
  std::chrono::milliseconds budget{0}; ///< for a search; 0 = no limit
  std::chrono::milliseconds pause{0};  ///< after each run
  RunOptions run;
  std::vector<std::string> notes; ///< printed before the first run
};

struct SweepPlan {
  std::string folder; ///< absolute
  std::string timestamp;
  std::vector<PlannedRun> warmups, runs; ///< in settings order; in run order
};

/// Plans the sweep; writes and changes no file. Errors: kUsage if a parameter does not change any
/// run.
Result<SweepPlan> plan_sweep(const SweepRequest& request);

struct FinishedSweep {
  std::string folder, summary_file;
  /// Runs of earlier sweeps in the folder, then the runs of this sweep in the order of the
  /// settings. Rows point into `earlier`, plan and request.
  std::vector<SummaryRow> rows;
  EarlierRows earlier;
  std::size_t done = 0; ///< runs that succeeded, now or earlier
  std::optional<AnalyzedSweep> analysis;
  std::vector<Finding> findings;
};

/// Runs the sweep. A failed run makes the session partial; without keep_going no further run
/// starts. Always writes summary, log and manifest. Errors: kOutput, kUsage (the folder contains
/// another sweep), kInterrupted.
Result<FinishedSweep> run_sweep(Session& ctx, const SweepRequest& request, const SweepPlan& plan);

} // namespace rankscope
