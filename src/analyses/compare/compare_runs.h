// Comparison of runs: GPU timelines and collectives of a baseline and of tests, rank by rank and as
// means over ranks, judged with the noise between steps (docs/reference/compare-rules.md 2).
#pragma once

#include "analyses/compare/compared_run.h"
#include "analyses/compare/judgement.h"
#include "analyses/compare/what_changed.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

/// A metric of both runs; a value is empty if the run lacks the metric.
struct MetricChange {
  std::optional<double> base, test;
  Better better = Better::kLower;

  [[nodiscard]] std::optional<double> difference() const; ///< test - base
  [[nodiscard]] std::optional<double> improvement() const;
  [[nodiscard]] std::optional<double> ratio() const; ///< test / base; empty for a base of 0
};

struct TimelineChange {
  std::optional<std::int64_t> rank; ///< empty: means over the ranks that both runs have
  TimeKind kind = TimeKind::kTotal;
  MetricChange ms;
  MetricChange percent; ///< percentage of total_time
  Judgement judgement;  ///< samples: profiler steps
};

/// Changes sorted by name of the kind; `by_rank` is sorted by rank first. Includes rows that only
/// one run has.
struct TimelineComparison {
  std::vector<TimelineChange> mean, by_rank;
};
/// Returns the ranks that all of the runs have.
[[nodiscard]] std::set<std::int64_t> common_ranks(const std::vector<const ComparedRun*>& runs);
/// Returns the number of steps of the rank with the most steps. The steps of run.work are fewer:
/// those of all ranks, without the first.
[[nodiscard]] std::size_t step_count(const ComparedRun& run);
/// Returns whether, for each rank of both runs, the steps of both contain the idle time between
/// them, or those of neither (counts_idle()). If not, total and idle time of the steps cannot be
/// compared. True if a run has no steps.
[[nodiscard]] bool same_idle_time(const ComparedRun& a, const ComparedRun& b);
/// Returns `rule` with the correlation of both runs' steps and the resolution of their clocks.
[[nodiscard]] JudgeRule rule_of_runs(const ComparedRun& base, const ComparedRun& test,
                                     JudgeRule rule);
[[nodiscard]] TimelineComparison compare_timelines(const ComparedRun& base, const ComparedRun& test,
                                                   const JudgeRule& rule);

struct CollectiveChange {
  CollectiveKey key;
  MetricChange latency_us, algo_gbps, bus_gbps, total_ms, count;
  Judgement judgement; ///< judges the latency; samples: profiler steps
  Judgement bandwidth; ///< judges both bandwidths, which differ by a constant factor
};

/// Durations of collectives on one rank and stream, over all splits. They include the wait for
/// later ranks.
struct RankCollectiveChange {
  std::int64_t rank = 0, stream = 0;
  CollectiveKey key;
  MetricChange mean_us, sum_us, count;
  Judgement judgement; ///< judges the mean; samples: profiler steps
};

/// Changes sorted by key; both lists are empty if neither run has collectives. `all_ranks` is empty
/// if the runs have different ranks.
struct CollectiveComparison {
  std::vector<CollectiveChange> all_ranks;
  std::vector<RankCollectiveChange> by_rank;
};
[[nodiscard]] CollectiveComparison
compare_collectives(const ComparedRun& base, const ComparedRun& test, const JudgeRule& rule);

/// A metric of the dashboard for one test.
struct DashboardCell {
  std::optional<double> base; ///< value over the data that the baseline and this test share
  std::optional<double> value, improvement; ///< values of the complete runs
  Judgement judgement;
  [[nodiscard]] std::optional<double> estimate() const { return judgement.estimate(improvement); }
};

struct DashboardRow {
  std::string metric; ///< "GPU_total_time", "NCCL_comm_latency", ...
  const char* unit = "";
  std::optional<TimeKind> kind;                    ///< only in rows of GPU times
  std::optional<double> base;                      ///< empty if it differs between tests
  std::vector<std::optional<DashboardCell>> tests; ///< empty: that comparison lacks the metric
};

/// Key metrics: GPU times by name, then metrics of the collectives that both runs have (name, type,
/// elements, group; none if the runs have different ranks). The metrics of collectives are weighted
/// by the baseline's counts, bandwidths by the baseline's time.
struct Dashboard {
  std::vector<DashboardRow> rows;
  std::size_t gpu_rows = 0;
};

/// Returns the names of all rows that a dashboard can have.
[[nodiscard]] std::vector<std::string> dashboard_metrics();

/// Evidence on whether two runs do the same work.
struct Comparability {
  std::optional<WorkloadOverlap> operators; ///< empty: a run has no operators with time
  WorkDifference work;
  /// Lag-1 correlation of the steps, if the runs have steps and it clearly exceeds its error. The
  /// intervals assume a larger one: JudgeRule::step_correlation.
  std::optional<double> step_correlation;

  [[nodiscard]] bool same_work() const;
};
[[nodiscard]] Comparability comparability(const ComparedRun& base, const ComparedRun& test);

/// A baseline compared with its tests.
struct Comparison {
  ComparedRun base;
  std::vector<ComparedRun> tests;
  JudgeRule rule;                            ///< as requested
  std::vector<JudgeRule> rules;              ///< one per test, adapted to the steps of both runs
  std::vector<TimelineComparison> timelines; ///< one per test
  std::vector<CollectiveComparison> collectives; ///< one per test
  std::vector<WhatChanged> changes;              ///< one per test; unknown if ranks differ
  std::vector<Comparability> comparability;      ///< one per test
  Dashboard dashboard;
};
[[nodiscard]] Comparison compare_runs(ComparedRun base, std::vector<ComparedRun> tests,
                                      const JudgeRule& rule);
[[nodiscard]] Dashboard dashboard_of(const Comparison& comparison);

/// One kind of time over the ranks of a run.
struct TimelineSummaryRow {
  TimeKind kind = TimeKind::kTotal;
  double mean_ms = 0, mean_percent = 0;
  std::size_t ranks = 0;
  double min_ms = 0, max_ms = 0;
  std::int64_t slowest_rank = 0; ///< the first rank with the maximum
};
/// Returns the rows by name of the kind. Geometric means leave zeros out: with a tiny number in
/// place of zeros, the mean would be nearly 0.
[[nodiscard]] std::vector<TimelineSummaryRow> timeline_summary(const ComparedRun& run,
                                                               bool geomean);
/// Returns the kinds of time that any of the runs has, sorted by name.
[[nodiscard]] std::vector<TimeKind> kinds_of(const std::vector<const ComparedRun*>& runs);

} // namespace rankscope
