// What the rules propose: the nodes of a cause, and their durations without it. Whether
// it costs anything is for the replay to say (causes.cpp).
#pragma once

#include "analyses/job/causes.h"
#include "analyses/job/peer_places.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rankscope {

inline constexpr std::int64_t kSmallCopyBytes = std::int64_t{64}
                                                << 10U; ///< smaller copies are reads

inline constexpr std::int64_t kStallNs = 200'000; ///< a shorter host activity is part of launching

struct CauseCandidate {
  StepCause cause;             ///< without cost and gain
  std::vector<NodeId> nodes;   ///< whose time on the path is its cost
  std::vector<NodeId> counted; ///< its occurrences; empty: all of `nodes`
  std::vector<std::pair<NodeId, std::int64_t>> durations; ///< without it
  std::vector<NodeId> unblocked;                          ///< calls that would not wait

  /// A node that is part of the cause, and its duration without it.
  void add(NodeId n, std::int64_t without_ns) {
    nodes.push_back(n);
    durations.emplace_back(n, without_ns);
  }
};

/// What all rules look at.
struct CauseInput {
  const JobRun& run;
  const std::optional<GpuArch>& arch;
};

/// Of one rank, without `ranks`; `nodes`: its nodes in the graph, ascending. A node belongs to one
/// candidate.
[[nodiscard]] std::vector<CauseCandidate> host_candidates(const CauseInput& in, std::uint32_t rank,
                                                          std::span<const NodeId> nodes);
/// Products, attention and copies.
[[nodiscard]] std::vector<CauseCandidate> gpu_candidates(const CauseInput& in, std::uint32_t rank,
                                                         std::span<const NodeId> nodes);
/// GPU work that need not run.
[[nodiscard]] std::vector<CauseCandidate>
avoidable_candidates(const CauseInput& in, std::uint32_t rank, std::span<const NodeId> nodes);

/// What makes outstanding ranks differ from their peers: of each the kernels that are longer,
/// the kernels that peers lack, the host.
[[nodiscard]] std::vector<CauseCandidate> rank_candidates(const CauseInput& in,
                                                          std::span<const OutstandingRank> ranks,
                                                          const PeerPlaces& peers);
/// The transfers of slow groups, and a single slow collective, as fast as the others.
[[nodiscard]] std::vector<CauseCandidate> link_candidates(const CauseInput& in,
                                                          std::span<const SlowTransfers> transfers);
/// Small collectives of a name, without the latency of all but the first of each row.
[[nodiscard]] std::vector<CauseCandidate>
small_collective_candidates(const CauseInput& in, std::span<const SmallTransfers> rows);
/// GEMMs of all ranks as fast as the same ones that no collective overlaps.
[[nodiscard]] std::vector<CauseCandidate> contention_candidates(const CauseInput& in,
                                                                const CountedSteps& clock);

} // namespace rankscope
