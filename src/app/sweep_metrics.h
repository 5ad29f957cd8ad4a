// The values of a sweep's runs: the table metrics.csv and their energy.
#pragma once

#include "collect/sweep_summary.h"
#include "core/table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// One row per run: setting, repeat, metric (of --metric, else the mean step time in ms), seconds,
/// joules, exit (128 + signal where one ended it), joules_per_step, host_joules. Empty where not
/// available.
[[nodiscard]] Table sweep_metrics(const std::vector<SummaryRow>& rows);

/// The table as FOLDER/metrics.csv and metrics.json. Errors: kOutput.
Result<void> write_sweep_metrics(const std::string& folder, const std::vector<SummaryRow>& rows);

/// The energy that `rankscope profile` measured in the run: the sum over the manifests of the
/// folders in the run's folder, each GPU once. None without one.
[[nodiscard]] std::optional<double> joules_of_run(const std::string& folder);

} // namespace rankscope
