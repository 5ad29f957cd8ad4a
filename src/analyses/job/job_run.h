// The job graph of the ranks of a run, with the rank and activity of each node.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/job/rank_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// The part of an activity that a node represents.
enum class NodeRole : std::uint8_t {
  kActivity, ///< the complete activity, or the transfer of a matched collective's kernel
  kArrival,  ///< begin of a matched collective's kernel; without duration
  kMeeting,  ///< members of a collective have arrived, or a step begins; without duration
};

/// A matched collective with several members.
struct JobCollective {
  std::size_t row = 0; ///< row of CollectiveFacts::collectives
  double bus_gbps = 0; ///< 10^9 bytes/s; 0: unknown
  std::vector<NodeId> transfers;
  bool complete = true; ///< no member is missing in the run
  bool together = true; ///< every member waits for all others
  bool pair = false;    ///< a send and its receive
};

struct JobRun {
  std::vector<RankGraph> ranks;
  JobGraph graph;
  /// The rank (position in `ranks`) of each node. The kernel of a matched collective has two nodes:
  /// the arrival and the transfer. The transfer waits for its own arrival (kStream) and for a third
  /// node, the time when the members that it waits for have arrived (kMember). The third node
  /// belongs to the last of them.
  std::vector<std::uint32_t> rank_of;
  /// The node in the rank's graph, by node.
  std::vector<NodeId> local_of;
  std::vector<NodeRole> role; ///< by node
  /// The numbers of successive steps with GPU work that all ranks have. If that is one step, the
  /// step before it on some ranks comes first. Empty: the run is one window.
  std::vector<std::int64_t> step_numbers;
  /// The begin of each step that was recorded separately. Empty: each step begins at the end of the
  /// step before.
  std::vector<std::int64_t> step_begin_ns;
  std::vector<JobCollective> collectives;
  /// Not 0: a receive ends this long before its send starts, so the clocks of the ranks differ, and
  /// sends do not wait for their receives or the reverse.
  std::int64_t clock_conflict_ns = 0;
  std::vector<std::uint32_t> step_at; ///< by node: step_of()
  std::vector<bool> gpu_work;         ///< by node: its activity is on the GPU

  [[nodiscard]] bool is_activity(NodeId n) const { return role[n] == NodeRole::kActivity; }
  [[nodiscard]] const RankNode& node(NodeId n) const {
    return ranks[rank_of[n]].nodes[local_of[n]];
  }
  [[nodiscard]] const Activity& activity(NodeId n) const {
    return ranks[rank_of[n]].activity(local_of[n]);
  }
  /// Returns the node of this role that `n` waits for, or kNoNode. For a transfer, that is its
  /// arrival or its meeting.
  [[nodiscard]] NodeId waited(NodeId n, NodeRole wanted) const {
    for (const Wait& wait : graph.waits(n))
      if (role[wait.from] == wanted)
        return wait.from;
    return kNoNode;
  }
  /// Returns the host node that launches this transfer of a matched collective, or kNoNode.
  [[nodiscard]] NodeId launch_of(NodeId transfer) const {
    const NodeId arrival = waited(transfer, NodeRole::kArrival);
    return arrival == kNoNode ? kNoNode : graph.waited(arrival, WaitKind::kLaunch);
  }
  /// Returns the part of a host activity that is inside the operator around the next call
  /// (RankGraph::operator_ns).
  [[nodiscard]] std::int64_t operator_ns(NodeId n) const;
  /// Returns the activities of each rank, ascending.
  [[nodiscard]] std::vector<std::vector<NodeId>> activities_by_rank() const;
  /// Returns the numbers of the ranks of these nodes, ascending, each once.
  [[nodiscard]] std::vector<std::int64_t> rank_numbers(std::span<const NodeId> nodes) const;
  [[nodiscard]] std::string_view text(NodeId n, StrId id) const {
    return ranks[rank_of[n]].text(id);
  }
  /// Returns the step as a position in step_numbers. Nodes before the first step belong to it;
  /// nodes after the last step have the position steps().
  [[nodiscard]] std::size_t step_of(NodeId n) const { return step_at[n]; }
  [[nodiscard]] std::size_t steps() const { return std::max<std::size_t>(1, step_numbers.size()); }
  [[nodiscard]] bool in_steps(NodeId n) const { return step_of(n) < steps(); }
};

/// Collects the nodes of a run with their activities.
class JobRunBuilder {
public:
  /// Adds a node. `local`: the node in the rank's graph. Returns the number for wait() and
  /// numbers().
  NodeId add(std::uint32_t rank, NodeId local, std::int64_t start_ns, std::int64_t dur_ns,
             NodeRole role);
  void reserve(std::size_t nodes, std::size_t waits) {
    added_.reserve(nodes);
    graph_.reserve(nodes, waits);
  }
  void wait(NodeId node, NodeId from, WaitKind kind, std::int32_t lag_ns = 0) {
    graph_.wait(node, from, kind, lag_ns);
  }
  struct Member {
    NodeId arrival = kNoNode;
    std::int64_t start_ns = 0, end_ns = 0; ///< of the complete activity
  };
  /// Adds the transfers of a collective, one for each member, from the last arrival that the member
  /// waits for to its end. A duration of -`clock_error_ns` or less counts as 0. `all_wait`: members
  /// wait for all others, else only for those that arrived before their end.
  [[nodiscard]] std::vector<NodeId> transfer(std::span<const Member> members,
                                             std::int64_t clock_error_ns, bool all_wait = true);
  /// Sets the graph and the columns of all nodes. The other members of `run` must be set before.
  void finish(JobRun& run, Trust trust);
  /// Returns the node of each add(). Call it after finish().
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

/// Returns the job graph of the ranks on the clocks aligned by `collectives`. `collectives`: facts
/// of the same ranks in the same order; nullptr: the ranks do not wait for each other. O(n log n).
[[nodiscard]] JobRun join_ranks(std::vector<RankGraph> ranks, const CollectiveFacts* collectives);

/// Returns the end of each step's last GPU work in a replay with this edit. The last value is the
/// end of the last activity of all steps.
[[nodiscard]] std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit);
/// Returns the same ends from given starts. `start`: replay_starts().
[[nodiscard]] std::vector<std::int64_t> step_ends(const JobRun& run, const JobEdit& edit,
                                                  std::span<const std::int64_t> start);

} // namespace rankscope
