// The causes of a run's duration. Each cause that a rule finds has its cost on the critical path
// and, by replay, the gain of its removal (docs/reference/job-graph.md).
#pragma once

#include "analyses/collectives/slow_links.h"
#include "analyses/job/exposed.h"
#include "analyses/job/job_run.h"
#include "analyses/job/late_rank_parts.h"
#include "analyses/job/path_rows.h"
#include "analyses/job/recording_cost.h"
#include "base/statistics.h"
#include "core/finding.h"
#include "model/gpu_arch.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// The rules (causes.def), in the order of the documentation.
enum class CauseRule : std::uint8_t {
#define RANKSCOPE_CAUSE(rule, ...) rule,
#include "analyses/job/causes.def"
#undef RANKSCOPE_CAUSE
};
inline constexpr std::array kCauseRuleIds = {
#define RANKSCOPE_CAUSE(rule, finding, id, ...) std::string_view(id),
#include "analyses/job/causes.def"
#undef RANKSCOPE_CAUSE
};
inline constexpr std::size_t kCauseRules = kCauseRuleIds.size();
/// Returns "data-loader", ... These ids are stable.
[[nodiscard]] std::string_view cause_rule_id(CauseRule rule);
/// Returns the rule with this id; empty if no rule has it.
[[nodiscard]] std::optional<CauseRule> cause_rule_of(std::string_view id);

enum class GainKind : std::uint8_t {
  kEstimate, ///< the gain uses values that were measured in this run
  kAtMost,   ///< the gain is a bound: from peaks, or as if the cause took no time
};
enum class Confidence : std::uint8_t { kSure, kLikely, kHint };
[[nodiscard]] std::string_view confidence_name(Confidence confidence);

struct StepCause {
  CauseRule rule = CauseRule::kHostCode;
  std::vector<std::int64_t> ranks; ///< ranks with this cause, ascending
  std::string what;                ///< frame, operator, call or shapes of the cause; may be empty
  std::string before;              ///< the operator that ends before the cause; "": unknown
  std::string after;               ///< the operator that follows the cause; "": unknown
  std::size_t count = 0;           ///< occurrences in all counted steps and all ranks
  /// Number of counted steps with an occurrence. compares_ranks(): with at least half of the mean
  /// excess per step over the peers.
  std::size_t steps_seen = 0;
  std::size_t steps = 0; ///< number of counted steps (CountedSteps)
  double cost_ms = 0;    ///< time per step on the critical path, minus that without the cause
  double gain_ms = 0;    ///< gain per step after the removal of all causes listed before
  std::optional<double> low_ms, high_ms; ///< 95 % interval of the gain over the steps
  double alone_ms = 0;                   ///< gain per step if only this cause is removed
  /// For causes that gain time only if all of them are removed: the position of the first of them
  /// in the list, from 1. They are successive, and each has an equal part of the gain.
  std::optional<std::size_t> together;
  GainKind kind = GainKind::kEstimate;
  Confidence confidence = Confidence::kSure;
  std::optional<FindingPlace> place;      ///< its longest occurrence in a counted step
  std::optional<std::int64_t> place_step; ///< number of this step; empty: the trace has no steps
  double occurrence_ms = 0;               ///< duration of this occurrence
  // fields of single rules
  bool call = false;             ///< kHostCode: `what` is a call of the runtime
  bool before_host_code = false; ///< kReadBack: the gain is that host code overlaps GPU work
  bool from_host = false;        ///< kReadBack: the call waits for a copy from the host
  bool shapes = true;            ///< kSlowGpu, kSlowOperator: input shapes were recorded
  bool alike = true; ///< kSlowGpu: in each step, about the same factor for all kernels of a rank
  /// kPageableCopy, kExposedCopy, kSlowCopies: bytes per step on the rank with the most bytes.
  /// kSmallCollectives: bytes of the largest collective.
  std::int64_t bytes = 0;
  /// kPageableCopy, kSlowCopies, kSlowLink, kSlowCollective: rates now and without the cause in
  /// GB/s. kMisaligned, kSlowFormat, kSlowGemm: in TFLOPS.
  double rate = 0, rate_to = 0;
  /// kSlowLink, kSlowCollective, kSlowGemm: number of groups, collectives or products in the
  /// comparison. kRepeatedReduction: number of backward passes of a step. kMoreWork: number of
  /// copies and fills.
  std::size_t others = 0;
  std::vector<std::vector<std::int64_t>> groups; ///< kSlowLink: ranks of each slow group
  /// kLaunchBound: median duration of the kernels and median launch interval. If `what` is a call
  /// that launches graphs, of the graphs.
  double kernel_us = 0, launch_us = 0;
  /// kSlowGpu, kSlowOperator, kContention: percentage by which the kernels are longer.
  /// kUnevenExchange: percentage by which the rank has more data than the mean. kMoreWork: share of
  /// `what` in the time of the extra work.
  double percent = 0;
  double percent_low = 0, percent_high = 0; ///< kContention: 99 % interval
  double latency_us = 0;                    ///< kSmallCollectives: median latency of a collective
  /// Rules of outstanding ranks: excess over the peers per step, as a mean over them; 0: unknown.
  double excess_ms = 0;
  /// One rank: number of steps in which no other rank is as late. kJitter: the largest number of
  /// steps in which the same rank is the slowest.
  std::size_t latest_steps = 0;
  /// The rank with more than half of the time that the activities of the cause lose, and with at
  /// least four times the mean of the cause's other ranks.
  std::optional<std::int64_t> main_rank;
};

/// Returns whether the rule compares outstanding ranks with their peers, or slow groups with
/// others.
[[nodiscard]] constexpr bool compares_ranks(CauseRule rule) {
  return rule >= CauseRule::kSlowGpu && rule <= CauseRule::kSlowLink;
}

/// Returns whether fewer than half of the steps have the cause. Its gain then differs from step to
/// step. Always false for causes of outstanding ranks, because the test of the ranks is over the
/// steps.
[[nodiscard]] bool in_single_steps(const StepCause& cause);

/// A rank that computes longer or arrives later than its peers, by a test over the steps.
struct OutstandingRank {
  std::uint32_t rank = 0; ///< position in the run
  double excess_ms = 0;   ///< excess per step; 0: unknown
  std::size_t steps = 0;  ///< number of steps in which no other rank has as much excess
};

/// The collectives of a process group with less bandwidth than other groups of its kind and size
/// (slow_groups()), or a single collective with less bandwidth (SlowCollectives).
struct SlowTransfers {
  bool single = false;
  std::string what; ///< the collective
  std::vector<std::int64_t> ranks;
  double gbps = 0, usual_gbps = 0; ///< bus bandwidth
  std::size_t others = 0;          ///< number of groups or collectives in the comparison
  std::vector<NodeId> nodes;
};
/// Returns the slow transfers of the run. `facts`: the facts that the run was joined with.
[[nodiscard]] std::vector<SlowTransfers> slow_transfers(const JobRun& run,
                                                        const CollectiveFacts& facts);

/// Successive collectives of a process group with hardly any other GPU work between them. Each
/// collective is mostly latency.
struct SmallTransfers {
  std::string what;                           ///< name of the collectives
  std::int64_t bytes = 0;                     ///< bytes of the largest collective
  std::vector<std::vector<NodeId>> transfers; ///< members of each collective
  std::vector<std::int64_t> latency_ns;       ///< latency of each collective
};
/// Returns rows of at least eight small collectives, only for groups that have larger collectives
/// too. `facts`: the facts that the run was joined with.
[[nodiscard]] std::vector<SmallTransfers> small_transfers(const JobRun& run,
                                                          const CollectiveFacts& facts);

/// All-reduces of gradients in every backward pass of a step but the last, which has the same
/// all-reduces.
struct RepeatedReductions {
  std::string what;       ///< name of the collective
  std::size_t passes = 0; ///< largest number of backward passes of a step
  std::vector<NodeId> transfers;
};
/// Returns the repeated all-reduces by name. A hook of the gradients must launch them, so sharded
/// gradients and activations are left out. So are runs with sends and receives (pipelines), and
/// backward passes with an update by the optimizer between them. `facts`: the facts that the run
/// was joined with.
[[nodiscard]] std::vector<RepeatedReductions> repeated_reductions(const JobRun& run,
                                                                  const CollectiveFacts& facts);

/// All-to-alls of one name in which the same rank has the most data.
struct UnevenExchanges {
  struct Exchange {
    std::vector<NodeId> transfers; ///< one for each member
    double factor = 1;             ///< data of the rank over the mean of the members
  };
  std::string what; ///< name of the collectives
  std::int64_t rank = 0;
  std::vector<Exchange> exchanges;
};
/// Returns the all-to-alls in which one rank has at least 5 % more data than the mean, if that is
/// the same rank in at least half of the all-to-alls of this name and group. They are sorted by
/// name and rank. `facts`: the facts
/// that the run was joined with.
[[nodiscard]] std::vector<UnevenExchanges> uneven_exchanges(const JobRun& run,
                                                            const CollectiveFacts& facts);

/// A rank that computes longer than its peers on average, but not significantly.
struct UnclearRank {
  std::int64_t rank = 0;
  double mean_ms = 0, lowest_ms = 0, highest_ms = 0; ///< excess of the steps
};

/// The results of the tests on ranks and groups.
struct RunSuspects {
  std::vector<OutstandingRank> ranks;
  std::vector<UnclearRank> unclear;
  /// Smallest excess of a rank's computation per step that the steps could show; 0: not tested, or
  /// a rank is slow.
  double visible_ms = 0;
  std::vector<SlowTransfers> transfers;
  std::vector<UntestedLinks> untested_links;
  std::vector<SmallTransfers> small;
  std::vector<RepeatedReductions> repeated;
  std::vector<UnevenExchanges> uneven;
};

/// The reason why a cause with evidence is not reported.
enum class UnsaidReason : std::uint8_t {
  kNoGain,     ///< the cause is on the critical path, but overlapping work takes as long
  kExplained,  ///< the gain is included in the reported causes, or in some of them
  kBelowNoise, ///< the gain is not significant over the steps
  kFewSteps,   ///< fewer than half of the steps have the cause
};
[[nodiscard]] std::string_view unsaid_reason_name(UnsaidReason reason);
struct Unsaid {
  CauseRule rule = CauseRule::kHostCode;
  UnsaidReason reason = UnsaidReason::kNoGain;
  double cost_ms = 0; ///< time per step on the critical path, summed over such causes of the rule
  double gain_ms = 0; ///< gain per step without the listed causes; the largest gain of these causes
};

/// A counted step that exceeds the median of at least five counted steps by 20 % of the median and
/// by five robust standard deviations.
struct LongStep {
  std::int64_t number = 0; ///< number of the step
  double ms = 0;
  double excess_ms = 0; ///< beyond the median
  double left_ms = 0;   ///< excess that is left after the removal of all listed causes
};

/// An outstanding rank for which no cause is found that applies only to it.
struct UnexplainedRank {
  std::int64_t rank = 0;
  double excess_ms = 0; ///< how much longer it computes than its peers; 0: it is later
  bool small = false;   ///< causes below the floor explain most of the excess
};

struct CauseFacts {
  std::string title;       ///< name of the run, as given by the user
  std::string gpu_model;   ///< GPU whose peaks are used; "": no peaks
  double step_time_ms = 0; ///< time of a step without recording, as given by the user; 0: unknown
  std::optional<RecordingCost> recording; ///< recording cost that was subtracted from the run
  JobGraphQuality quality;
  std::optional<double> prediction_error; ///< prediction_error_percent(), if it was requested
  std::size_t ranks = 0;
  std::size_t steps = 0;              ///< counted profiler steps; 0: the trace has no steps
  std::size_t recorded_steps = 0;     ///< all profiler steps
  double step_ms = 0;                 ///< mean time of a step
  double after_ms = 0;                ///< mean time of a step without all listed causes
  double floor_ms = 0;                ///< smaller gains are not reported
  double gpu_busy_percent = 0;        ///< share of GPU work in the critical path
  double host_percent = 0;            ///< share of host activities and calls in the critical path
  ExposedTime exposed;                ///< exposed communication
  std::vector<BoundaryStep> boundary; ///< steps that are left out
  std::vector<LongStep> long_steps;   ///< ascending
  std::int64_t job_ranks = 0;         ///< size of the job according to its traces; 0: unknown
  /// Possible clock error between ranks after their alignment; nullopt if a rank shares only
  /// sends and receives with the others.
  std::optional<std::int64_t> clock_error_ns = 0;
  std::int64_t clock_conflict_ns = 0; ///< JobRun::clock_conflict_ns
  /// Share of GPU time without a launch, on the rank with the largest share.
  double unlinked_percent = 0;
  bool stacks = false; ///< some rank has Python frames
  /// Possible cost of recording frames, on the rank with the largest cost.
  double frame_cost_percent = 0;
  std::vector<StepCause> causes; ///< ordered by gain
  std::vector<PathRow> path;     ///< most time first; the rows add up to the time of a step
  std::vector<LateRankParts> late_rank_parts; ///< parts of the outstanding ranks
  std::vector<UnexplainedRank> unexplained_ranks;
  std::vector<UnclearRank> unclear_ranks; ///< above the floor
  double visible_ms = 0;                  ///< RunSuspects::visible_ms
  std::vector<UntestedLinks> untested_links;
  std::vector<Unsaid> unsaid;
};

/// Options of the search for causes.
struct CauseOptions {
  /// Percentage of a step; smaller gains and gains below 0.05 ms are not reported.
  double floor_percent = 0.5;
  bool prediction = false;            ///< also computes CauseFacts::prediction_error
  std::optional<CauseRule> rule;      ///< only causes of this rule
  std::optional<std::int64_t> rank;   ///< only causes of this rank, with their gain on this rank
  std::optional<StepPositions> steps; ///< only these steps count
  bool shortened = false; ///< recording cost was subtracted from the host's time (RecordingCost)
};

/// Returns the causes of a run. `arch`: the GPU model, for rules that need peaks. `suspects`: slow
/// links, and ranks that are compared with their peers if the run has at least four ranks.
[[nodiscard]] CauseFacts causes_of(const JobRun& run, const std::optional<GpuArch>& arch,
                                   RunSuspects suspects = {}, const CauseOptions& options = {});

/// If the share of host time for recording frames is larger, host causes are at most likely.
inline constexpr double kFrameCostPercent = 5;
/// If the share of unexplained time is larger, no gains are printed.
inline constexpr double kNoGainPercent = 30;
/// If the share of unexplained time is larger, gains are marked as uncertain.
inline constexpr double kDoubtfulPercent = 10;

} // namespace rankscope
