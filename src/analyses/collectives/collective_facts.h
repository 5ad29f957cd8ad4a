// Results for the collectives of all ranks (docs/reference/collective-formulas.md) as plain
// structs: latency and bandwidth, skew, stragglers, exposed communication, groups, clocks.
#pragma once

#include "analyses/collectives/clock_alignment.h"
#include "analyses/collectives/collective_match.h"
#include "analyses/collectives/slow_collectives.h"
#include "analyses/group_stats.h"
#include "base/result.h"
#include "base/statistics.h"
#include "base/units.h"

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Clock of the times. kNone: times as in the files; kBase: unix time by the files' time bases;
/// kCollectives: unix time corrected by the ends of collectives.
enum class AlignMode { kNone, kBase, kCollectives };

struct CollectiveOptions {
  AlignMode align = AlignMode::kCollectives;
  std::int64_t gpus_per_node = 0; ///< 0: the number of devices in the first trace
  std::vector<std::string> agg_metrics = {"mean", "median", "min", "max"};
  bool compat_tracelens = false; ///< bandwidths in 1024^3 bytes per second; collectives of equal
                                 ///< size merged across groups
  bool all_to_all_v_heatmap = false;
};

/// One collective with the times of all its ranks, on the common clock. Each list has one entry per
/// member of the match.
struct TimedCollective {
  MatchedCollective match;
  std::string id; ///< "GROUP_INDEX"; "GROUP~2_INDEX" for the second group of a name
  const RankCollectives* first_rank = nullptr; ///< data of the first member's rank
  const Collective* first = nullptr;
  std::vector<std::int64_t> start_ns, end_ns;
  /// Time until the last member starts. Valid only if waits_known is true.
  std::vector<std::int64_t> wait_ns;
  /// True if no member is missing and the kind makes members wait for each other (compat: always,
  /// as in the reference).
  bool waits_known = true;
  std::int64_t latest_start_ns = 0;
  std::int64_t latency_ns = 0;  ///< shortest duration of the members that are present
  std::int64_t end_skew_ns = 0; ///< latest end - earliest end
  double full_mib = 0;          ///< size of the larger buffer; NaN if the type is unknown
  /// Bandwidths in 10^9 bytes/s (compat: 1024^3 bytes/s); NaN if unknown or if a member is missing.
  double algo_gbps = 0, bus_gbps = 0;
};

/// One synchronizing collective (no rank leaves before all have entered), with sums over its
/// members.
struct SyncCollective {
  const TimedCollective* timed = nullptr;
  std::int64_t start_skew_ns = 0; ///< the largest wait
  std::int64_t earliest_rank = 0;
  std::int64_t wait_ns = 0; ///< sum over the members
  [[nodiscard]] double mean_wait_us() const;
};

/// The mean of a value over the collectives of one profiler step.
struct StepMean {
  std::int64_t step = 0;
  double mean = 0;
};

/// All synchronizing collectives of one name, type, size and group.
struct SyncSummary {
  std::string name, dtype, group;
  std::string group_ranks, node_span;                 ///< data of the first group
  std::int64_t in_nelems = kNoId, group_size = kNoId; ///< kNoId: unknown
  double full_mib = 0;
  Stats latency_us, start_skew_us, end_skew_us, algo_gbps, bus_gbps;
  std::size_t count = 0;
  double total_latency_ms = 0;
  /// Bus bandwidth by profiler step, ascending; only of steps with known bandwidths. It is empty in
  /// compat mode, and if the row is from a saved state or a report.
  std::vector<StepMean> step_bus_gbps;
};

/// Durations of a rank's kernels with the same group, name, type, size, split and stream.
struct RankSummary {
  std::int64_t rank = 0;
  std::string group, group_ranks, name, dtype, in_split, out_split;
  std::int64_t group_size = 0, in_nelems = 0, out_nelems = 0;
  std::int64_t stream = 0;
  double in_mib = 0, out_mib = 0;
  Stats dur_us;
  std::size_t count = 0;
  std::optional<std::int64_t> node; ///< node of the rank; empty if the GPUs per node are unknown
  std::string node_span;            ///< node span of the group: intra_node, inter_node, unknown
};

/// One collective kernel on one rank.
struct CollectiveKernel {
  const RankCollectives* rank = nullptr;
  const Collective* collective = nullptr;
  const TimedCollective* timed = nullptr;
  std::int64_t wait_ns = 0; ///< at most the kernel's duration; see TimedCollective::waits_known
};

struct AllToAllV {
  const TimedCollective* timed = nullptr;
  double sent_mib = 0, nelems = 0;
  double wall_us = 0; ///< first start to last end
  double max_us = 0, min_us = 0, mean_us = 0;
  double throughput_gbps = 0;
  double imbalance = 0; ///< largest / mean sent by a rank
  double start_skew_us = 0;
};

struct AllToAllVSummary {
  std::string group, dtype, group_ranks;
  std::int64_t group_size = kNoId;
  double mean_mib = 0, mean_wall_us = 0, mean_throughput_gbps = 0, mean_imbalance = 0;
  std::size_t count = 0;
  double wall_us = 0;
};

/// The data that one rank sends to another in all-to-all-v.
struct SentTo {
  std::int64_t from = 0, to = 0;
  double mib = 0;
  std::int64_t count = 0;
};

/// Start times of one rank in collectives that synchronise, compared with the other members.
struct Straggler {
  std::int64_t rank = 0;
  std::int64_t wait_ns = 0, dur_ns = 0;
  double mean_lateness_us = 0; ///< mean delay of this rank's start after the median start
  /// Mean per step of (median duration of the other members - duration of this rank), us. All
  /// members leave together, so this rank starts later by this time; clock differences do not
  /// affect it.
  std::vector<double> late_us;
  /// The same, as the sum over the collectives of one group, by group. A rank that waits in one
  /// group for a late rank is itself late in another one.
  std::map<std::string, double> late_us_by_group;
  std::int64_t last = 0, first = 0, shortest = 0; ///< number of collectives in which this rank
                                                  ///< starts last, starts first, has the shortest
                                                  ///< kernel
  std::int64_t collectives = 0;
  FindingPlace latest; ///< the collective in which this rank has its largest lateness (computed
                       ///< from durations)
  [[nodiscard]] double percent_of(std::int64_t times) const {
    return 100.0 * static_cast<double>(times) / static_cast<double>(collectives);
  }
};

struct ExposedRank {
  std::int64_t rank = 0;
  std::int64_t comm_ns = 0, exposed_ns = 0, hidden_compute_ns = 0, hidden_memcpy_ns = 0;
};

struct ExposedType {
  std::string name;
  std::int64_t kernels = 0;
  std::int64_t dur_ns = 0, wait_ns = 0, hidden_compute_ns = 0, hidden_memcpy_ns = 0;
  std::int64_t waits_known_ns = 0; ///< part of dur_ns in collectives with known waits
  [[nodiscard]] std::int64_t exposed_ns() const {
    return dur_ns - hidden_compute_ns - hidden_memcpy_ns;
  }
  /// Returns exposed_ns() as a percentage of dur_ns; NaN if dur_ns is 0.
  [[nodiscard]] double exposed_percent() const { return percent_of(exposed_ns(), dur_ns, kNaN); }
};

struct GroupSummary {
  std::string name, ranks, description, node_span;
  std::int64_t size = kNoId, collectives = 0, kernels = 0;
  double mib = 0;
  std::int64_t dur_ns = 0; ///< sum over kernels and ranks
  double median_bus_gbps = 0;
};

struct RankClock {
  std::int64_t rank = 0, base_time_ns = 0;
  ClockOffset offset;
};

/// Counts of collectives, and a collective that is far slower than others of its kind, if there is
/// one.
struct CollectiveTotals {
  std::size_t matched = 0, incomplete = 0;
  std::size_t not_recorded = 0; ///< the incomplete ones of groups without a missing trace
  std::optional<SlowCollective> slow;

  void count_members(const MatchedCollective& collective) {
    const bool lacks = collective.incomplete();
    ++matched;
    incomplete += lacks ? 1 : 0;
    not_recorded += lacks && collective.all_read ? 1 : 0;
  }
};

/// All results, in the order of the sheets. They refer to the ranks, which must outlive them.
struct CollectiveFacts {
  CollectiveFacts() = default;
  CollectiveFacts(CollectiveFacts&&) = default;
  CollectiveFacts& operator=(CollectiveFacts&&) = default;

  std::span<const RankCollectives> ranks;
  std::int64_t per_node = 0;     ///< GPUs per node; 0 = unknown
  bool compat_tracelens = false; ///< as in CollectiveOptions: sets the unit of the bandwidths
  std::vector<TimedCollective> collectives; ///< by group, then index
  CollectiveTotals totals;
  std::vector<SyncSummary> summary;           ///< most latency first
  std::vector<RankSummary> rank_summary;      ///< most time first
  std::vector<AllToAllVSummary> a2av_summary; ///< most time first
  std::vector<SentTo> a2av_sent;              ///< empty unless requested
  std::vector<CollectiveKernel> kernels;      ///< rank order, then file order
  std::vector<SyncCollective> synchronising;
  std::vector<AllToAllV> a2av;       ///< most data first
  std::vector<Straggler> stragglers; ///< least wait first
  std::vector<ExposedRank> exposed_ranks;
  std::vector<ExposedType> exposed_types; ///< most exposed first
  std::vector<GroupSummary> groups;       ///< most time first
  std::vector<RankClock> clocks;          ///< empty unless clocks were aligned
  std::vector<ClockOffset> offsets;       ///< results of align_clocks(), aligned or not
  std::vector<CollectiveProblem> problems;
};

/// Computes the results. `ranks` must be ascending by rank. Errors: kUnreadable if no rank has a
/// collective.
Result<CollectiveFacts> collective_facts(const std::vector<RankCollectives>& ranks,
                                         const CollectiveOptions& options);

} // namespace rankscope
