// The values of a sweep's runs: the table metrics.csv and the energy.
#pragma once

#include "collect/sweep_summary.h"
#include "core/table.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Returns one row per run: setting, repeat, metric (of --metric, else the mean step time in ms),
/// seconds, joules, exit (128 + signal if a signal ended the run), joules_per_step, host_joules.
/// Values that are not available are empty.
[[nodiscard]] Table sweep_metrics(const std::vector<SummaryRow>& rows);

/// Writes the table of sweep_metrics() as FOLDER/metrics.csv and metrics.json. Errors: kOutput.
Result<void> write_sweep_metrics(const std::string& folder, const std::vector<SummaryRow>& rows);

/// Returns the energy that `rankscope profile` measured in the run: the sum over the manifests of
/// the folders in the run's folder, with each GPU counted once. Returns nullopt without a
/// measurement.
[[nodiscard]] std::optional<double> joules_of_run(const std::string& folder);

} // namespace rankscope
