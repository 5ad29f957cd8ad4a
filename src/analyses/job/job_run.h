// The job graph of the ranks of a run, and whose activity each node is.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/job/rank_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Which part of its activity a node is.
enum class NodeRole : std::uint8_t {
  kActivity, ///< all of it; of the kernel of a matched collective the transfer
  kArrival,  ///< the kernel of a matched collective begins; without duration
  kMeeting,  ///< all members of a collective have arrived, or a step begins; without duration
};

/// A matched collective of more than one member.
struct JobCollective {
  std::size_t row = 0; ///< of CollectiveFacts::collectives
  double bus_gbps = 0; ///< 10^9 bytes/s; 0: unknown
  std::vector<NodeId> transfers;
};

struct JobRun {
  std::vector<RankGraph> ranks;
  JobGraph graph;
  /// By node: its rank (position in `ranks`) and its node there. The kernel of a matched collective
  /// is two nodes: its arrival, and the transfer, which waits for both its own arrival (kStream)
  /// and a third node, where all have arrived (kMember); that one belongs to the last member.
  std::vector<std::uint32_t> rank_of;
  std::vector<NodeId> local_of;
  std::vector<NodeRole> role; ///< by node
  /// Of the steps with GPU work that all ranks have; empty: one window.
  std::vector<std::int64_t> step_numbers;
  /// Of steps that were recorded one by one: when each begins. Empty: where the one before ends.
  std::vector<std::int64_t> step_begin_ns;
  std::vector<JobCollective> collectives;
  std::vector<std::uint32_t> step_at; ///< by node: step_of()
  std::vector<bool> gpu_work;         ///< by node: its activity is on the GPU

  [[nodiscard]] bool is_activity(NodeId n) const { return role[n] == NodeRole::kActivity; }
  [[nodiscard]] const RankNode& node(NodeId n) const {
    return ranks[rank_of[n]].nodes[local_of[n]];
  }
  [[nodiscard]] const Activity& activity(NodeId n) const {
    return ranks[rank_of[n]].activity(local_of[n]);
  }
  /// The node of this role that `n` waits for; kNoNode: none. Of a transfer its arrival, or where
  /// all have arrived.
  [[nodiscard]] NodeId waited(NodeId n, NodeRole of) const {
    for (const JobGraph::Wait& wait : graph.waits(n))
      if (role[wait.from] == of)
        return wait.from;
    return kNoNode;
  }
  [[nodiscard]] std::string_view text(NodeId n, StrId id) const {
    return ranks[rank_of[n]].text(id);
  }
  /// Number of the step as a position in step_numbers; the first of all for what comes before.
  [[nodiscard]] std::size_t step_of(NodeId n) const { return step_at[n]; }
  [[nodiscard]] std::size_t steps() const { return std::max<std::size_t>(1, step_numbers.size()); }
};

/// Collects the nodes of a run with their activities.
class JobRunBuilder {
public:
  /// `local`: the node of the rank. Returns the number for wait() and numbers().
  NodeId add(std::uint32_t rank, NodeId local, std::int64_t start_ns, std::int64_t dur_ns,
             NodeRole role);
  void wait(NodeId node, NodeId from, WaitKind kind, std::int32_t lag_ns = 0) {
    graph_.wait(node, from, kind, lag_ns);
  }
  struct Member {
    NodeId arrival = kNoNode;
    std::int64_t start_ns = 0, end_ns = 0; ///< of the complete activity
  };
  /// The transfers of a collective, one for each member: from the arrival of the last one to the
  /// member's end, which counts as 0 when it is shorter than that by `clock_error_ns` or more.
  [[nodiscard]] std::vector<NodeId> transfer(std::span<const Member> members,
                                             std::int64_t clock_error_ns);
  /// Sets the graph and all columns of nodes; everything else is set.
  void finish(JobRun& run, Trust trust);
  /// After finish(): the node of each add().
  [[nodiscard]] const std::vector<NodeId>& numbers() const { return graph_.numbers(); }

private:
  struct Added {
    std::uint32_t rank;
    NodeId local;
    NodeRole role;
  };
  JobGraphBuilder graph_;
  std::vector<Added> added_;
};

/// `collectives`: of the same ranks in the same order, nullptr: the ranks do not wait for each
/// other. Clocks are those that it aligned. O(n log n).
[[nodiscard]] JobRun join_ranks(std::vector<RankGraph> ranks, const CollectiveFacts* collectives);

/// By step: when its last GPU work ends, of a replay with this edit; the last one is the end of the
/// run.
[[nodiscard]] std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit);
/// The same; `start`: replay_starts().
[[nodiscard]] std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit,
                                                  std::span<const std::int64_t> start);

} // namespace rankscope
