// What a comparison of runs keeps of one run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/timeline/gpu_timeline.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rankscope {

struct KindTime {
  std::int64_t time_ns = 0;
  double percent = 0; ///< of total_time; NaN when a report does not say
};

/// One rank.
struct RankTimeline {
  std::map<TimeKind, KindTime> kinds;
  /// Nanoseconds by kind and number of the profiler step; empty without steps.
  std::map<TimeKind, std::map<std::int64_t, std::int64_t>> step_ns;
};

/// What collectives of two runs are joined by.
struct CollectiveKey {
  std::string name, dtype;
  std::int64_t in_nelems = kNoId; ///< kNoId: unknown
  std::string group;
  auto operator<=>(const CollectiveKey&) const = default;
};
[[nodiscard]] inline CollectiveKey key_of(const SyncSummary& s) {
  return {s.name, s.dtype, s.in_nelems, s.group};
}

/// Microseconds, one value per single collective.
struct CollectiveSamples {
  std::vector<double> latency_us, start_skew_us;
};

struct RunCollectives {
  std::vector<SyncSummary> summary;
  std::vector<RankSummary> rank_summary;
  std::map<CollectiveKey, CollectiveSamples> samples;
  std::vector<std::string> agg_metrics = CollectiveOptions{}.agg_metrics; ///< that `summary` has
  std::vector<std::string> notes; ///< to stand under the summary (units of the bandwidths)
};

/// One side of a comparison.
struct ComparedRun {
  std::string label;
  std::map<std::int64_t, RankTimeline> ranks;
  RunCollectives collectives;
};

/// Of one rank's facts; without step_ns when the trace has no steps.
[[nodiscard]] RankTimeline rank_timeline(const LoadedTrace& trace, const ReportOptions& options);
[[nodiscard]] RunCollectives run_collectives(const CollectiveFacts& facts);

} // namespace rankscope
