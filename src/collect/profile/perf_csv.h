// perf.csv: a row for each performance value that a run printed, in the documented 29 columns, so
// that tables of older runs can be continued.
#pragma once

#include "collect/profile/manifest.h"
#include "collect/profile/models.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct PerfMetric {
  std::string part;        ///< name of one of several results; "" = the only result
  std::string performance; ///< number as printed
  std::string metric;      ///< name of the value: throughput
};

/// Parses a line `performance: NUMBER[/UNIT][,] METRIC` or `performance: NUMBER UNIT, METRIC`.
/// Example: "performance: 14164 samples/s, throughput" has the value 14164 and the metric
/// throughput.
[[nodiscard]] std::optional<PerfMetric> performance_of_line(std::string_view line);
/// Parses `train_samples_per_second` of HuggingFace's trainer, as the trainer logs it or as a
/// dictionary.
[[nodiscard]] std::optional<PerfMetric> trainer_metric_of_line(std::string_view line);

/// Returns the first `performance:` of run.log, else the first trainer_metric_of_line(), else
/// empty.
[[nodiscard]] std::optional<PerfMetric> metric_of_run_log(const std::string& path);
/// Returns the rows of a table with the columns model, performance, metric and any others. Errors:
/// kUnreadable.
Result<std::vector<PerfMetric>> read_results_csv(const std::string& path);

/// Returns the values of the run: from the table if the model names one and it exists, else from
/// the log. `notes` gets a note about missing parts of a table.
[[nodiscard]] std::vector<PerfMetric> perf_metrics(const RunRequest& request, const Model* model,
                                                   std::vector<std::string>& notes);

/// Returns the names of the columns, separated by commas.
[[nodiscard]] std::string perf_csv_header();
/// Returns one line per value, or one line if there is no value, each with its line end. The status
/// depends on the exit status alone; a run under tools has the tag `profiled=true`. `model`
/// nullptr: a command.
[[nodiscard]] std::string perf_csv_rows(const RunIdentity& identity, const RunRequest& request,
                                        const RunResult& result, const Model* model,
                                        const std::vector<PerfMetric>& metrics,
                                        const EnvPairs& environment);

/// Checks that rows can be appended to the file. Creates the file if it does not exist. Errors:
/// kOutput; kUsage when the file has another header.
Result<void> check_perf_csv(const std::string& path);
/// Appends the rows, with the header in front when the file is empty. Errors: kOutput.
Result<void> append_perf_csv(const std::string& path, const std::string& rows);

} // namespace rankscope
