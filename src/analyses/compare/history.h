// The metrics of many runs of one workload as series, and where they change (docs/baseline.md).
#pragma once

#include "analyses/compare/compared_run.h"
#include "base/statistics.h"
#include "core/report.h"
#include "core/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A step of a series from one level to another.
struct LevelChange {
  std::size_t run = 0;          ///< the first of the new level, index in History::runs
  double before = 0, after = 0; ///< means of the runs since the change before and until the next
  std::optional<double> improvement_percent;       ///< positive is better
  std::optional<double> low_percent, high_percent; ///< Welch's interval of it
  double p = 1;
};

struct MetricHistory {
  std::string metric; ///< as the dashboard of compare names it
  const char* unit = "";
  Better better = Better::kLower;
  std::vector<std::optional<double>> values; ///< by run; empty where a run lacks it
  std::vector<double> levels;                ///< by run: the mean of its level
  std::size_t runs = 0;                      ///< that have a value
  std::vector<LevelChange> changes;
};

/// Why a run has no value of some metrics.
struct MissingMetrics {
  enum class Reason : std::uint8_t {
    kNoSteps,        ///< GPU times: other runs have profiler steps
    kFewCollectives, ///< all metrics of collectives: the run lacks some of them
    kOtherClocks,    ///< start skew: its clocks are not aligned as in most runs
  };
  std::size_t run = 0; ///< index in History::runs
  Reason reason = Reason::kNoSteps;
  std::size_t collectives = 0; ///< that it has
};

struct History {
  std::vector<std::string> runs; ///< labels, in the order of time
  bool per_step = false;         ///< GPU times: means over profiler steps, else of complete traces
  std::vector<MetricHistory> metrics;
  std::size_t collectives = 0; ///< that more than half of the runs have
  std::vector<MissingMetrics> missing;
  std::size_t needed = 0; ///< number of runs needed to find a change among so many metrics
};

/// `runs` in the order of time, two at least. GPU times are means over ranks and profiler steps (of
/// complete traces if no run has steps; else a run without steps lacks them). Collectives are those
/// that more than half of the runs have, weighted by the counts of the first run with all of them;
/// a run without one of them lacks their metrics. `missing` lists such runs. Change points come
/// from change_points() at 0.05 / metrics, so that a history without a change has one in any metric
/// with probability 0.05 at most. Metrics that are 0 in all runs are left out.
[[nodiscard]] History history_of(const std::vector<ComparedRun>& runs);

/// Returns the sheets History (a row per metric), Change_Points, Series (a row per metric and run).
[[nodiscard]] Report history_report(const History& history);
/// Their columns.
[[nodiscard]] std::vector<SheetInfo> history_sheets();

} // namespace rankscope
