// Why a run takes as long as it does: for each cause that a rule finds, its cost on the
// critical path and the gain of its removal by replay (docs/reference/job-graph.md).
#pragma once

#include "analyses/job/exposed.h"
#include "analyses/job/job_run.h"
#include "analyses/job/late_rank_parts.h"
#include "analyses/job/path_rows.h"
#include "analyses/job/recording_cost.h"
#include "base/statistics.h"
#include "core/finding.h"
#include "model/gpu_arch.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// In the order of the documentation.
enum class CauseRule : std::uint8_t {
  kLoader,           ///< the GPU waits for the data loader
  kCollection,       ///< Python's garbage collector
  kHostCode,         ///< one stretch of host code between launches
  kAllocator,        ///< memory is taken from and given back to the driver
  kPinning,          ///< host memory is made ready in the step
  kCheckpoint,       ///< the model is written in some steps
  kReadBack,         ///< the host waits for the GPU and launches nothing meanwhile
  kBlockingLaunch,   ///< each launch waits for its kernel
  kLoading,          ///< kernels are compiled or loaded in the step
  kLaunchBound,      ///< launches take longer than the kernels
  kOptimizerLoop,    ///< the optimizer has a kernel for each parameter and operation
  kSlowFormat,       ///< products in fp32 without matrix units
  kMisaligned,       ///< products whose extents do not fit the matrix units
  kPageableCopy,     ///< copies from or to pageable host memory
  kExposedCopy,      ///< copies from or to pinned host memory that kernels wait for
  kUnfusedAttention, ///< attention that writes its scores to memory
  kPointwiseChain,   ///< pointwise kernels that one kernel could replace
  kLayoutConversion, ///< kernels that change the layout of tensors
  kRecomputation,    ///< the forward pass runs again in the backward pass
  kSlowGpu,          ///< the kernels of one rank take longer than those of its peers
  kSlowOperator,     ///< those of one operator do
  kMoreWork,         ///< one rank runs kernels that its peers do not run
  kSlowHost,         ///< the host of one rank takes longer than those of its peers
  kMoreData,         ///< the operators of one rank have larger inputs than those of its peers
  kSlowLink,         ///< the transfers of one process group are slower than those of others
  kSlowCollective,   ///< one transfer is slower than the others of its kind and size
  kSmallCollectives, ///< successive collectives whose latency is most of their transfer
  kContention,       ///< GEMMs take longer while collectives run
};
inline constexpr std::size_t kCauseRules = 28;
/// "data-loader", ...: stable.
[[nodiscard]] std::string_view cause_rule_id(CauseRule rule);
/// Of one of these ids.
[[nodiscard]] std::optional<CauseRule> cause_rule_of(std::string_view id);

enum class GainKind : std::uint8_t {
  kEstimate, ///< the edited values were measured in this run
  kAtMost,   ///< a bound: from peaks, or as if the cause cost nothing
};
enum class Confidence : std::uint8_t { kSure, kLikely, kHint };
[[nodiscard]] std::string_view confidence_name(Confidence confidence);

struct StepCause {
  CauseRule rule = CauseRule::kHostCode;
  std::vector<std::int64_t> ranks; ///< that have it, ascending
  std::string what;      ///< the frame, operator, call or shapes that it is about; may be empty
  std::string before;    ///< the operator that ends before it; "" = unknown
  std::string after;     ///< the operator that follows it; "" = unknown
  std::size_t count = 0; ///< occurrences in all steps that count, and ranks
  std::size_t steps_seen = 0;            ///< of these steps those that have one
  std::size_t steps = 0;                 ///< that count (CountedSteps)
  double cost_ms = 0;                    ///< of a step, on the critical path
  double gain_ms = 0;                    ///< of a step, with all causes listed before it removed
  std::optional<double> low_ms, high_ms; ///< 95 % interval of the gain over the steps
  double alone_ms = 0;                   ///< gain when it alone is removed
  GainKind kind = GainKind::kEstimate;
  Confidence confidence = Confidence::kSure;
  std::optional<FindingPlace> place; ///< its longest occurrence
  double occurrence_ms = 0;          ///< and how long that is
  // fields of single rules
  bool call = false;  ///< kHostCode: `what` is a call of the runtime
  bool shapes = true; ///< kSlowGpu, kSlowOperator: shapes of inputs were recorded
  /// kPageableCopy, kExposedCopy: of a step, of the rank with most. kSmallCollectives: the largest.
  std::int64_t bytes = 0;
  double rate = 0,
         rate_to = 0;     ///< kPageableCopy and kSlowLink GB/s, kMisaligned and kSlowFormat TFLOPS,
                          ///< now and then
  std::size_t others = 0; ///< kSlowLink, kSlowCollective: groups or collectives to compare with
  double kernel_us = 0, launch_us = 0; ///< kLaunchBound: median duration and launch interval
  double percent = 0; ///< kSlowGpu, kSlowOperator, kContention: by which the kernels are longer
  double percent_low = 0, percent_high = 0; ///< kContention: 99 % interval
  double latency_us = 0;                    ///< kSmallCollectives: median of one
  double excess_ms = 0; ///< rules of one rank: how much later it is than its peers, per step
  std::size_t latest_steps = 0; ///< and steps in which no other rank is as late
};

/// Fewer than half of the steps have it: its gain differs from step to step.
[[nodiscard]] bool in_single_steps(const StepCause& cause);

/// A rank that computes longer or comes later than its peers, by a test over the steps.
struct OutstandingRank {
  std::uint32_t rank = 0; ///< position in the run
  double excess_ms = 0;   ///< of a step; 0: unknown
  std::size_t steps = 0;  ///< in which no other rank exceeds its peers as much
};

/// Collectives of a process group that has less bandwidth than the others of its kind and size
/// (slow_groups()), or a single collective that has (SlowCollectives).
struct SlowTransfers {
  bool single = false;
  std::string what; ///< the collective
  std::vector<std::int64_t> ranks;
  double gbps = 0, usual_gbps = 0; ///< bus bandwidth
  std::size_t others = 0;          ///< groups, or collectives
  std::vector<NodeId> nodes;
};
/// `facts`: that the run was joined with.
[[nodiscard]] std::vector<SlowTransfers> slow_transfers(const JobRun& run,
                                                        const CollectiveFacts& facts);

/// Successive collectives of a process group with hardly any other GPU work between them, each of
/// them mostly latency.
struct SmallTransfers {
  std::string what;                           ///< their name
  std::int64_t bytes = 0;                     ///< of the largest
  std::vector<std::vector<NodeId>> transfers; ///< of each: its members
  std::vector<std::int64_t> latency_ns;       ///< of each
};
/// `facts`: that the run was joined with. At least eight in a row; only groups that have larger
/// collectives too.
[[nodiscard]] std::vector<SmallTransfers> small_transfers(const JobRun& run,
                                                          const CollectiveFacts& facts);

/// What tests on ranks and groups found.
struct RunSuspects {
  std::vector<OutstandingRank> ranks;
  std::vector<SlowTransfers> transfers;
  std::vector<SmallTransfers> small;
};

/// Why a cause is not reported although its sign was there.
enum class UnsaidReason : std::uint8_t {
  kNoGain,     ///< on the critical path, but overlapping work takes as long
  kExplained,  ///< the causes that are reported take its gain along
  kBelowNoise, ///< its gain is not significant over the steps, or few steps have it
};
[[nodiscard]] std::string_view unsaid_reason_name(UnsaidReason reason);
struct Unsaid {
  CauseRule rule = CauseRule::kHostCode;
  UnsaidReason reason = UnsaidReason::kNoGain;
  double cost_ms = 0; ///< of a step, on the critical path; of all such causes of the rule
  double gain_ms = 0; ///< of a step, without the causes that are listed; the largest of them
};

struct CauseFacts {
  std::string title;       ///< the run, as the user named it
  std::string board;       ///< whose peaks are used; "" = none
  double step_time_ms = 0; ///< of a step that was not recorded, as the user gave it; 0: unknown
  std::optional<RecordingCost> recording; ///< taken off the run before
  JobGraphQuality quality;
  std::optional<double> prediction_error; ///< prediction_error_percent(), where it is asked for
  std::size_t ranks = 0;
  std::size_t steps = 0;              ///< profiler steps that count; 0: the trace has no steps
  std::size_t recorded_steps = 0;     ///< all of them
  double step_ms = 0;                 ///< mean time of a step
  double after_ms = 0;                ///< without all causes that are listed
  double floor_ms = 0;                ///< smaller gains are not reported
  double gpu_busy_percent = 0;        ///< of the critical path, GPU work
  double host_percent = 0;            ///< of the critical path, host activities and calls
  ExposedTime exposed;                ///< communication
  std::vector<BoundaryStep> boundary; ///< steps that are left out
  std::int64_t job_ranks = 0;         ///< of the job as its traces say; 0: unknown
  std::int64_t clock_error_ns = 0; ///< by which the ranks' clocks may differ after their alignment
  double unlinked_percent = 0;     ///< of the GPU time, without a launch: of the rank with most
  bool stacks = false;             ///< some rank has Python frames
  double frame_cost_percent = 0;   ///< what recording them may have cost: of the rank with most
  std::vector<StepCause> causes;   ///< by gain
  std::vector<PathRow> path;       ///< most time first; the rows add up to the time of a step
  std::vector<LateRankParts> late_rank_parts; ///< of the outstanding ranks
  /// Outstanding ranks without a cause that is theirs alone: rank, excess in ms.
  std::vector<std::pair<std::int64_t, double>> unexplained_ranks;
  std::vector<Unsaid> unsaid;
};

/// How causes are looked for.
struct CauseLook {
  double floor_percent = 0.5; ///< of a step: smaller gains are not reported, nor any below 0.05 ms
  bool prediction = false;    ///< CauseFacts::prediction_error too
  std::optional<CauseRule> rule;      ///< no others are looked for
  std::optional<std::int64_t> rank;   ///< causes of this rank, and their gain there
  std::optional<StepPositions> steps; ///< the only ones that count
  bool shortened = false; ///< the host's time is less than what was recorded (RecordingCost)
};

/// `arch`: of the GPUs, for the rules that need peaks. `suspects`: ranks whose difference to their
/// peers is looked for, with four ranks and more, and slow links.
[[nodiscard]] CauseFacts causes_of(const JobRun& run, const std::optional<GpuArch>& arch,
                                   RunSuspects suspects = {}, const CauseLook& look = {});

/// Above this share of the host's time the recording of frames makes causes on the host likely at
/// most.
inline constexpr double kFrameCostPercent = 5;
/// Above this share of unexplained time no gain is printed.
inline constexpr double kNoGainPercent = 30;
/// Above this one gains are marked as uncertain.
inline constexpr double kDoubtfulPercent = 10;

} // namespace rankscope
