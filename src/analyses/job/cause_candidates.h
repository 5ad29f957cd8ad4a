// The candidates that the rules propose: the nodes of a cause, and their durations without it. The
// replay decides whether the cause costs time (causes.cpp).
#pragma once

#include "analyses/job/causes.h"
#include "analyses/job/contention.h"
#include "analyses/job/peer_places.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

inline constexpr std::int64_t kSmallCopyBytes = std::int64_t{64}
                                                << 10U; ///< smaller copies are reads

inline constexpr std::int64_t kStallNs = 200'000; ///< a shorter host activity is part of launching

struct CauseCandidate {
  StepCause cause;           ///< without cost and gain
  std::vector<NodeId> nodes; ///< nodes whose lost time on the path is the cost of the cause
  std::vector<std::pair<NodeId, std::int64_t>> parts; ///< nodes with only this time of the cause
  std::vector<NodeId> counted; ///< occurrences of the cause; empty: all of `nodes`
  std::vector<std::pair<NodeId, std::int64_t>> durations; ///< durations without the cause
  /// Calls and transfers that would not wait for the GPU or for other ranks without the cause.
  std::vector<NodeId> unblocked;
  /// GPU work that would not wait for other streams without the cause.
  std::vector<NodeId> unordered;
  double most_ms = 0; ///< its largest gain per step so far, in addition to the causes taken before
  bool exact = false; ///< `durations` may be longer than the recorded ones
  /// GPU work of duration 0 also loses the usual gap before it, because it is part of other work.
  bool removes_gaps = false;

  /// Adds a node of the cause, and the node's duration without the cause.
  void add(NodeId n, std::int64_t without_ns) {
    nodes.push_back(n);
    durations.emplace_back(n, without_ns);
  }
  /// Adds the part of a host activity that is inside the operator around the next call.
  void add_operator(const JobRun& run, NodeId n) {
    const std::int64_t part_ns = run.operator_ns(n);
    parts.emplace_back(n, part_ns);
    durations.emplace_back(n, run.graph.dur_ns(n) - part_ns);
  }
};

/// Returns whether the copy stays on its GPU, by its name.
[[nodiscard]] bool copies_within_gpu(std::string_view name);
/// Returns whether the copy is from or to the host, by its name.
[[nodiscard]] bool copies_host_memory(std::string_view name);
/// Returns whether the copy is from the host to a GPU, by its name.
[[nodiscard]] bool copies_from_host(std::string_view name);

/// The input of all rules.
struct CauseInput {
  const JobRun& run;
  const std::optional<GpuArch>& arch;
  const Contention* contention = nullptr; ///< nullptr: unknown

  /// Returns the time that contention adds to the activity.
  [[nodiscard]] std::int64_t contention_ns(NodeId n) const {
    return contention == nullptr ? 0 : contention->added_ns(n);
  }
};

/// Returns the host causes of one rank, without `ranks`. `nodes`: the rank's nodes in the graph,
/// ascending. A node belongs to one candidate.
[[nodiscard]] std::vector<CauseCandidate> host_candidates(const CauseInput& in, std::uint32_t rank,
                                                          std::span<const NodeId> nodes);
/// Returns causes in products, attention and copies.
[[nodiscard]] std::vector<CauseCandidate> gpu_candidates(const CauseInput& in, std::uint32_t rank,
                                                         std::span<const NodeId> nodes);
/// Returns causes with GPU work that need not run.
[[nodiscard]] std::vector<CauseCandidate>
avoidable_candidates(const CauseInput& in, std::uint32_t rank, std::span<const NodeId> nodes);

/// Returns the differences of outstanding ranks from their peers: longer kernels, kernels that the
/// peers lack, and the host.
[[nodiscard]] std::vector<CauseCandidate> rank_candidates(const CauseInput& in,
                                                          std::span<const OutstandingRank> ranks,
                                                          const PeerPlaces& peers);
/// Returns the transfers of slow groups and a single slow collective, with the bandwidth of the
/// others.
[[nodiscard]] std::vector<CauseCandidate> link_candidates(const CauseInput& in,
                                                          std::span<const SlowTransfers> transfers);
/// Returns small collectives by name, with latency only for the first collective of each row.
[[nodiscard]] std::vector<CauseCandidate>
small_collective_candidates(const CauseInput& in, std::span<const SmallTransfers> rows);
/// Makes one candidate of the host's pauses at changing places, if they have similar lengths, as
/// those of a garbage collector do. Removes them from the candidates of host code. Without Python
/// frames that is a guess. `candidates`: of all ranks, with their ranks.
void gather_pauses(const JobRun& run, std::vector<CauseCandidate>& candidates);
/// Returns the repeated reductions by name, as if they did not exist.
[[nodiscard]] std::vector<CauseCandidate>
repeated_reduction_candidates(const CauseInput& in, std::span<const RepeatedReductions> reductions);
/// Returns the all-to-alls by name and rank, as if every member had the mean amount of data.
[[nodiscard]] std::vector<CauseCandidate>
uneven_exchange_candidates(const CauseInput& in, std::span<const UnevenExchanges> exchanges);
/// Returns the kernels and the host activities of all ranks, with the mean duration over the
/// ranks at the same place of the step. No rank is the slowest in more than half of the steps.
/// `places`: in any step.
[[nodiscard]] std::vector<CauseCandidate>
jitter_candidates(const JobRun& run, const CountedSteps& clock, const PlaceNodes& places);
/// Returns the GEMMs of the counted steps that collectives overlap, without contention.
[[nodiscard]] std::vector<CauseCandidate>
contention_candidates(const JobRun& run, const CountedSteps& clock, const Contention& contention);

} // namespace rankscope
