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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Raw times, unix times by the files' time bases, or those corrected by the ends of collectives.
enum class AlignMode { kNone, kBase, kCollectives };

struct CollectiveOptions {
  AlignMode align = AlignMode::kCollectives;
  std::int64_t gpus_per_node = 0; ///< 0: the number of devices in the first trace
  std::vector<std::string> agg_metrics = {"mean", "median", "min", "max"};
  bool compat_tracelens = false; ///< bandwidths in 1024^3 bytes per second, groups of a size merged
  bool all_to_all_v_heatmap = false;
};

/// One collective with the times of all its ranks, on the common clock. Each list has one entry per
/// member of the match.
struct TimedCollective {
  MatchedCollective match;
  std::string id; ///< "GROUP_INDEX", "GROUP~2_INDEX" of a name's 2nd group
  const RankCollectives* first_rank = nullptr; ///< of the first member
  const Collective* first = nullptr;
  std::vector<std::int64_t> start_ns, end_ns;
  /// Time until the last member starts. Valid only with told_waits.
  std::vector<std::int64_t> wait_ns;
  /// No member is missing and the kind makes them wait for each other (compat: always, as in the
  /// reference).
  bool told_waits = true;
  std::int64_t latest_start_ns = 0;
  std::int64_t latency_ns = 0;  ///< the shortest duration of the members present
  std::int64_t end_skew_ns = 0; ///< latest end - earliest end
  double full_mib = 0;          ///< the larger buffer; NaN without a known type
  /// 10^9 bytes/s (compat: 1024^3); NaN where unknown or a member is missing.
  double algo_gbps = 0, bus_gbps = 0;
};

/// One synchronizing collective (no rank leaves before all have entered), over its members.
struct SyncCollective {
  const TimedCollective* timed = nullptr;
  std::int64_t start_skew_ns = 0; ///< the largest wait
  std::int64_t earliest_rank = 0;
  std::int64_t wait_ns = 0; ///< sum over the members
  [[nodiscard]] double mean_wait_us() const;
};

/// All such collectives of a name, type, size and group.
struct SyncSummary {
  std::string name, dtype, group;
  std::string group_ranks, node_span;                 ///< of the first group
  std::int64_t in_nelems = kNoId, group_size = kNoId; ///< kNoId: unknown
  double full_mib = 0;
  Stats latency_us, start_skew_us, end_skew_us, algo_gbps, bus_gbps;
  std::size_t count = 0;
  double total_latency_ms = 0;
};

/// Durations of all kernels of a rank, group, name, type, size, split and stream.
struct RankSummary {
  std::int64_t rank = 0;
  std::string group, group_ranks, name, dtype, in_split, out_split;
  std::int64_t group_size = 0, in_nelems = 0, out_nelems = 0;
  std::int64_t stream = 0;
  double in_mib = 0, out_mib = 0;
  Stats dur_us;
  std::size_t count = 0;
  std::optional<std::int64_t> node; ///< of the rank, where the GPUs per node are known
  std::string node_span;            ///< of the group: intra_node, inter_node, unknown
};

/// One collective kernel on one rank.
struct CollectiveKernel {
  const RankCollectives* rank = nullptr;
  const Collective* collective = nullptr;
  const TimedCollective* timed = nullptr;
  std::int64_t wait_ns = 0; ///< not more than its duration; see TimedCollective::told_waits
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

/// How one rank arrives at the collectives that synchronise.
struct Straggler {
  std::int64_t rank = 0;
  std::int64_t wait_ns = 0, dur_ns = 0;
  double mean_lateness_us = 0; ///< start after the median start of the ranks
  /// By how much its collectives are shorter than the median of the other members', us, a mean per
  /// step. All leave together, so it starts later by this time, independent of clocks.
  std::vector<double> late_us;
  std::int64_t last = 0, first = 0, shortest = 0; ///< how often
  std::int64_t collectives = 0;
  FindingPlace latest; ///< the collective that it starts latest, by duration
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
  std::int64_t told_ns = 0; ///< of the duration, in collectives whose waits are known
  [[nodiscard]] std::int64_t exposed_ns() const {
    return dur_ns - hidden_compute_ns - hidden_memcpy_ns;
  }
  /// Of the duration; NaN when that is 0.
  [[nodiscard]] double exposed_percent() const { return percent_of(exposed_ns(), dur_ns, kNaN); }
};

struct GroupSummary {
  std::string name, ranks, description, node_span;
  std::int64_t size = kNoId, collectives = 0, kernels = 0;
  double mib = 0;
  std::int64_t dur_ns = 0; ///< over kernels and ranks
  double median_bus_gbps = 0;
};

struct RankClock {
  std::int64_t rank = 0, base_time_ns = 0;
  ClockOffset offset;
};

/// Of the single collectives.
struct CollectiveTotals {
  std::size_t matched = 0, incomplete = 0;
  std::optional<SlowCollective> slow;
};

/// All results, in the order of the sheets. Refers to its ranks, which must outlive it.
struct CollectiveFacts {
  CollectiveFacts() = default;
  CollectiveFacts(CollectiveFacts&&) = default;
  CollectiveFacts& operator=(CollectiveFacts&&) = default;

  std::span<const RankCollectives> ranks;
  std::int64_t per_node = 0;                ///< GPUs of a node; 0 = unknown
  bool compat_tracelens = false;            ///< as CollectiveOptions's: the unit of the bandwidths
  std::vector<TimedCollective> collectives; ///< by group, then index
  CollectiveTotals totals;
  std::vector<SyncSummary> summary;           ///< most latency first
  std::vector<RankSummary> rank_summary;      ///< most time first
  std::vector<AllToAllVSummary> a2av_summary; ///< most time first
  std::vector<SentTo> a2av_sent;              ///< when asked for
  std::vector<CollectiveKernel> kernels;      ///< rank order, then file order
  std::vector<SyncCollective> synchronising;
  std::vector<AllToAllV> a2av;       ///< most data first
  std::vector<Straggler> stragglers; ///< least wait first
  std::vector<ExposedRank> exposed_ranks;
  std::vector<ExposedType> exposed_types; ///< most exposed first
  std::vector<GroupSummary> groups;       ///< most time first
  std::vector<RankClock> clocks;          ///< when clocks were aligned
  std::vector<ClockOffset> offsets;       ///< as by align_clocks(), aligned or not
  std::vector<CollectiveProblem> problems;
};

/// `ranks` ascending by rank. No rank or no collective: an Error.
Result<CollectiveFacts> collective_facts(const std::vector<RankCollectives>& ranks,
                                         const CollectiveOptions& options);

} // namespace rankscope
