// The data of one run for a comparison of runs.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/compare/step_work.h"
#include "analyses/compare/workload.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/statistics.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

struct KindTime {
  std::int64_t time_ns = 0;
  double percent = 0; ///< percentage of total_time; NaN if a report lacks it
};

/// The GPU times of one rank.
struct RankTimeline {
  std::map<TimeKind, KindTime> kinds;
  /// Nanoseconds by kind and number of the profiler step; empty without steps.
  std::map<TimeKind, std::map<std::int64_t, std::int64_t>> step_ns;
};

/// Returns the idle time before the steps of a rank as unknown or 0, from the numbers of its steps:
/// `total_ns` by step, 0 without GPU work.
[[nodiscard]] IdleBeforeSteps known_idle(const std::map<std::int64_t, std::int64_t>& total_ns);
/// Returns whether the rank's times per step contain the idle time between the steps.
[[nodiscard]] bool counts_idle(const RankTimeline& rank);

/// The key that joins collectives of two runs.
struct CollectiveKey {
  std::string name, dtype;
  std::int64_t in_nelems = kNoId; ///< kNoId: unknown
  std::string group;
  // clang-tidy 14 reports the 0 in this comparison as a null pointer
  auto operator<=>(const CollectiveKey&) const = default; // NOLINT(modernize-use-nullptr)
};
[[nodiscard]] inline CollectiveKey key_of(const SyncSummary& s) {
  return {s.name, s.dtype, s.in_nelems, s.group};
}

/// Samples of one metric of collectives. A sample is the mean of the values of one profiler step.
/// Values of one step are not independent: they share a link, clocks and the late rank.
class SampleSet {
public:
  struct StepSum {
    double sum = 0;
    std::int64_t count = 0;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };

  SampleSet() = default;
  /// Adds one value for each of the steps 0, 1, 2, ...
  SampleSet(std::initializer_list<double> values) {
    for (const double value : values)
      add(static_cast<std::int64_t>(steps_.size()), value);
  }
  explicit SampleSet(std::map<std::int64_t, StepSum> steps) : steps_(std::move(steps)) {}

  /// Adds a value. `step` < 0: outside of the steps, or the trace has no steps. NaN (unknown) is
  /// skipped.
  void add(std::int64_t step, double value);
  void add(const SampleSet& more);
  /// Returns the number of single values.
  [[nodiscard]] std::size_t size() const;
  /// Returns statistics of the means of the steps. Without steps, the mean of all values is the
  /// only sample. Values outside of the steps are not a sample.
  [[nodiscard]] SampleStats stats() const;
  /// Returns the samples of stats(), in the order of the steps.
  [[nodiscard]] std::vector<double> means() const;
  /// Returns the sums by step; values outside of the steps have the key -1.
  [[nodiscard]] const std::map<std::int64_t, StepSum>& steps() const { return steps_; }

private:
  std::map<std::int64_t, StepSum> steps_;
};

/// Samples per collective.
struct CollectiveSamples {
  SampleSet latency_us, start_skew_us, bus_gbps;
  /// Returns whether the samples belong to a row of the summary, which is so if the number of
  /// samples is the row's count.
  [[nodiscard]] bool belong_to(const SyncSummary& row) const {
    return latency_us.size() == row.count;
  }
};

/// The key that joins durations of collectives on single ranks.
struct RankCollectiveKey {
  std::int64_t rank = 0;
  CollectiveKey collective;
  std::int64_t stream = 0;
  bool operator<(const RankCollectiveKey& other) const {
    if (rank != other.rank)
      return rank < other.rank;
    if (collective != other.collective)
      return std::less<CollectiveKey>{}(collective, other.collective);
    return stream < other.stream;
  }
};

/// Whether the clocks were aligned when the skews were measured.
enum class ClockState : std::uint8_t { kUnknown, kRaw, kAligned };

struct RunCollectives {
  std::vector<SyncSummary> summary; ///< of complete collectives: the latency of others has waits
  std::vector<RankSummary> rank_summary;
  std::map<CollectiveKey, CollectiveSamples> samples;
  std::map<RankCollectiveKey, SampleSet> rank_dur_us; ///< durations of single kernels
  std::vector<std::string> agg_metrics = CollectiveOptions{}.agg_metrics; ///< metrics in `summary`
  std::vector<std::string> notes;           ///< shown under the summary (units of the bandwidths)
  ClockState clocks = ClockState::kUnknown; ///< kUnknown: no collectives
};

/// One side of a comparison.
struct ComparedRun {
  std::string label;
  std::map<std::int64_t, RankTimeline> ranks;
  RunCollectives collectives;
  OperatorTimes operators; ///< all ranks together; empty when unknown
  StepWork work; ///< work of all ranks; ranks = 0 when unknown (reports do not contain it)
  std::vector<std::int64_t> damaged; ///< ranks that lost events, so their times may be too short
};

/// Returns whether both runs have the same ranks with all events, or a run has no GPU times and
/// thus unknown ranks.
[[nodiscard]] bool same_ranks(const ComparedRun& a, const ComparedRun& b);

/// Returns the GPU times of one rank; step_ns is empty if the trace has no steps.
[[nodiscard]] RankTimeline rank_timeline(const LoadedTrace& trace, const ReportOptions& options);
/// Returns the GPU time of each operator in nanoseconds.
[[nodiscard]] OperatorTimes operator_times(const LoadedTrace& trace, const ReportOptions& options);
[[nodiscard]] std::map<CollectiveKey, CollectiveSamples>
collective_samples(std::span<const SyncCollective> collectives);
[[nodiscard]] RunCollectives run_collectives(const CollectiveFacts& facts);
/// Sets the run's collectives, and the waits for late ranks in its step work.
void add_collectives(ComparedRun& run, const CollectiveFacts& facts);

} // namespace rankscope
