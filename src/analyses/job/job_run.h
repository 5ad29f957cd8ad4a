// The job graph of the ranks of a run, and whose activity each node is.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/job/rank_graph.h"

#include <cstdint>
#include <vector>

namespace rankscope {

struct JobRun {
  std::vector<RankGraph> ranks;
  JobGraph graph;
  /// By node: its rank (position in `ranks`) and its node there. The kernel of a matched collective
  /// is two nodes: until the last member arrives, and the transfer.
  std::vector<std::uint32_t> rank_of;
  std::vector<NodeId> local_of;
  std::vector<bool> arrival; ///< by node: the wait of a collective's member, without duration
  std::vector<std::int64_t> step_numbers; ///< of the steps that all ranks have; empty: one window
  std::size_t matched = 0;                ///< collectives of more than one member

  [[nodiscard]] const RankNode& node(NodeId n) const {
    return ranks[rank_of[n]].nodes[local_of[n]];
  }
  [[nodiscard]] const Activity& activity(NodeId n) const {
    return ranks[rank_of[n]].activity(local_of[n]);
  }
  [[nodiscard]] std::string_view text(NodeId n, StrId id) const {
    return ranks[rank_of[n]].text(id);
  }
  /// Number of the step as a position in step_numbers; the first of all for what comes before.
  [[nodiscard]] std::size_t step_of(NodeId n) const;
  [[nodiscard]] std::size_t steps() const { return std::max<std::size_t>(1, step_numbers.size()); }
};

/// `collectives`: of the same ranks in the same order, nullptr: the ranks do not wait for each
/// other. Clocks are those that it aligned. O(n log n).
[[nodiscard]] JobRun join_ranks(std::vector<RankGraph> ranks, const CollectiveFacts* collectives);

/// By step: when its last GPU work ends, of a replay with these starts and durations; the last one
/// is the end of the run. Differences of neighbours are the times of the steps.
[[nodiscard]] std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit);

} // namespace rankscope
