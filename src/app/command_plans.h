// The output of commands with --dry-run --json: the table `plan`, with a row for each trace to be
// read, each report to be made or each command to be run.
#pragma once

#include "app/analyze.h"
#include "app/batch.h"
#include "app/partial.h"
#include "app/sweep.h"
#include "core/report.h"

#include <vector>

namespace rankscope {

/// Returns a row per rank; a missing rank has no file.
[[nodiscard]] Report collectives_plan(const RunPlan& plan);
[[nodiscard]] Report analyze_plan(const AnalyzeRequest& request, const std::vector<RunPlan>& plans);
[[nodiscard]] Report partial_plan(const std::string& folder, const std::vector<PlannedPart>& parts);
[[nodiscard]] Report batch_plan(const BatchSearch& search, const std::vector<BatchFolder>& folders);
[[nodiscard]] Report sweep_plan(const SweepRequest& request, const SweepPlan& plan);

/// Returns whether an earlier sweep in the same folder has finished the run, so that it is not run
/// again.
[[nodiscard]] bool is_finished(const SweepRequest& request, const PlannedRun& run);

} // namespace rankscope
