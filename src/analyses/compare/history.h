// The metrics of many runs of one workload as series, and the changes in these series
// (docs/baseline.md).
#pragma once

#include "analyses/compare/compared_run.h"
#include "analyses/compare/workload.h"
#include "base/statistics.h"
#include "core/report.h"
#include "core/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A change of a series from one level to another.
struct LevelChange {
  std::size_t run = 0;          ///< first run of the new level, index in History::runs
  double before = 0, after = 0; ///< means of the runs from the previous change to this one, and
                                ///< from this one to the next
  std::optional<double> improvement_percent;       ///< positive is better
  std::optional<double> low_percent, high_percent; ///< Welch's interval of improvement_percent
  double p = 1;
};

struct MetricHistory {
  std::string metric; ///< name as in the dashboard of compare
  const char* unit = "";
  Better better = Better::kLower;
  std::vector<std::optional<double>> values; ///< by run; empty if the run lacks the metric
  std::vector<double> levels;                ///< by run: mean of the run's level
  std::size_t runs = 0;                      ///< number of runs with a value
  std::vector<LevelChange> changes;
};

/// The reason for missing values of some metrics in a run.
struct MissingMetrics {
  enum class Reason : std::uint8_t {
    kNoSteps,        ///< GPU times: other runs have profiler steps
    kFewCollectives, ///< all collective metrics: the run lacks some common collectives
    kOtherClocks,    ///< start skew: the run's clocks are not aligned as in most runs
  };
  std::size_t run = 0; ///< index in History::runs
  Reason reason = Reason::kNoSteps;
  std::size_t collectives = 0; ///< number of common collectives in the run
};

/// A run that does other work than the run before it.
struct WorkChange {
  std::size_t run = 0; ///< index in History::runs
  WorkDifference work;
};

struct History {
  std::vector<std::string> runs; ///< labels, in the order of time
  bool per_step = false;         ///< true: GPU times are means over profiler steps; false: they are
                                 ///< those of complete traces
  std::vector<MetricHistory> metrics;
  std::size_t collectives = 0; ///< number of collectives that more than half of the runs have
  std::vector<MissingMetrics> missing;
  std::vector<WorkChange> work_changes; ///< set by the caller of history_of(); ascending
  std::size_t needed = 0; ///< number of runs needed to find a change among so many metrics
};

/// Returns the history of `runs`, at least two, in the order of time. GPU times are means over
/// the ranks that all runs have, and over profiler steps. If no run has steps, they are means over
/// ranks of complete traces; if only some runs have steps, the others lack GPU times. Collective
/// metrics cover the collectives that occur in more than half of the runs. Each collective is
/// weighted by its count in the first run that contains all of these collectives. A run that lacks
/// one of these collectives lacks the metrics. `missing` lists such runs. Change points come from
/// change_points() at the level 0.05 / number of metrics: the probability that a history without a
/// change has a change point in any metric is at most 0.05. Metrics that are 0 in all runs are left
/// out.
[[nodiscard]] History history_of(const std::vector<ComparedRun>& runs);

/// Returns the sheets History (a row per metric), Change_Points, Series (a row per metric and run).
[[nodiscard]] Report history_report(const History& history);
/// Returns the columns of these sheets.
[[nodiscard]] std::vector<SheetInfo> history_sheets();

} // namespace rankscope
