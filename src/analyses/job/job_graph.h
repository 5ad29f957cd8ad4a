// The job graph: the activities of a run, their waits for each other, and the replay of the run
// with other durations (docs/reference/job-graph.md). The graph consists of columns, not objects.
// Nodes are numbered so that an activity comes after all activities that it waits for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace rankscope {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffU;

/// The reason why an activity cannot begin before another one has ended.
enum class WaitKind : std::uint8_t {
  kStream,      ///< GPU work waits for the work before it on its stream
  kLaunch,      ///< GPU work waits for the host's activity up to its launch
  kHost,        ///< a host activity waits for the one before it on its thread
  kBlocking,    ///< a call returns after the GPU work that it waits for
  kMember,      ///< the transfer of a collective waits for the arrival of each member
  kOtherStream, ///< inferred: GPU work that begins when work on another stream ends
  kHandOver,    ///< inferred: a thread continues when another thread has finished
  kQueue,       ///< inferred: a launch returns when the queue has a free place
};
inline constexpr std::size_t kWaitKinds = 8;
[[nodiscard]] constexpr bool is_inferred(WaitKind kind) {
  return kind >= WaitKind::kOtherStream;
}

/// A wait for the end of a node, plus a lag. Runs have millions of waits, so the lag and the kind
/// share four bytes.
struct Wait {
  NodeId from = kNoNode;

  Wait() = default;
  /// Lags of more than 0.26 s count as 0.26 s.
  Wait(NodeId node, WaitKind kind, std::int64_t lag_ns = 0)
      : from(node), lag_and_kind_(static_cast<std::int32_t>(
                        std::clamp(lag_ns, -kMostLagNs, kMostLagNs) * kKinds +
                        static_cast<std::int64_t>(kind))) {}
  [[nodiscard]] WaitKind kind() const {
    return static_cast<WaitKind>(lag_and_kind_ & (kKinds - 1));
  }
  [[nodiscard]] std::int32_t lag_ns() const { return lag_and_kind_ >> kKindBits; }

private:
  static constexpr int kKindBits = 3, kKinds = 1 << kKindBits;
  static constexpr std::int64_t kMostLagNs = INT32_MAX / kKinds;
  static_assert(kWaitKinds <= kKinds);
  std::int32_t lag_and_kind_ = 0;
};

/// A wait with the node that waits.
struct NodeWait : Wait {
  NodeId node = 0;

  NodeWait() = default;
  NodeWait(NodeId waiting, const Wait& wait) : Wait(wait), node(waiting) {}
};

/// Frees the memory of a list, which `list = {}` would keep.
template <class List> void release(List& list) {
  list = List();
}

/// The graph of a run. An activity begins when all activities that it waits for have ended, each
/// plus its lag, and after the activity's own delay. Times are in ns from the begin of the run.
class JobGraph {
public:
  [[nodiscard]] std::size_t size() const { return start_ns_.size(); }
  [[nodiscard]] std::int64_t start_ns(NodeId n) const { return start_ns_[n]; }
  [[nodiscard]] std::int64_t dur_ns(NodeId n) const { return dur_ns_[n]; }
  [[nodiscard]] std::int64_t end_ns(NodeId n) const { return start_ns_[n] + dur_ns_[n]; }
  /// Returns the start minus the latest end of the waits. Negative if the recorded times contradict
  /// the graph.
  [[nodiscard]] std::int64_t delay_ns(NodeId n) const {
    return delay_ns_[n] == kLongDelay ? long_delays_.at(n) : delay_ns_[n];
  }
  [[nodiscard]] std::span<const std::int64_t> starts() const { return start_ns_; }

  [[nodiscard]] std::span<const Wait> waits(NodeId n) const {
    return {waits_.data() + first_wait_[n], waits_.data() + first_wait_[n + 1]};
  }
  /// Returns the node that `n` waits for with its first wait of this kind, or kNoNode.
  [[nodiscard]] NodeId waited(NodeId n, WaitKind kind) const {
    for (const Wait& wait : waits(n))
      if (wait.kind() == kind)
        return wait.from;
    return kNoNode;
  }
  [[nodiscard]] std::size_t wait_count() const { return waits_.size(); }
  /// Returns the number of waits that were left out because the recorded times contradict them.
  [[nodiscard]] std::size_t contradicted() const { return contradicted_; }
  /// Returns the latest end.
  [[nodiscard]] std::int64_t makespan_ns() const;
  /// Replaces the durations by those of the edit and the starts by those of its replay. Delays
  /// stay.
  void replay(const struct JobEdit& edit);

private:
  friend class JobGraphBuilder;
  static constexpr std::int32_t kLongDelay = INT32_MAX;
  std::vector<std::int64_t> start_ns_, dur_ns_;
  std::vector<std::int32_t> delay_ns_; ///< kLongDelay: in long_delays_
  std::unordered_map<NodeId, std::int64_t> long_delays_;
  std::vector<std::uint32_t> first_wait_; ///< size() + 1
  std::vector<Wait> waits_;
  std::size_t contradicted_ = 0;
};

/// The treatment of a wait if its node starts before the other node ends.
enum class Trust : std::uint8_t {
  kTimes, ///< the wait is wrong: it is left out and counted
  kWaits, ///< the clocks differ: the node has a negative delay; only circular waits are left out
};

/// Collects nodes and waits in any order. `built()` numbers the nodes by start, or so that every
/// wait is met. Equal nodes keep the order of add(). O(n log n).
class JobGraphBuilder {
public:
  /// Adds a node. Returns its number for wait(); numbers() maps this number to the node of the
  /// graph.
  NodeId add(std::int64_t start_ns, std::int64_t dur_ns);
  void reserve(std::size_t nodes, std::size_t waits) {
    start_ns_.reserve(nodes);
    dur_ns_.reserve(nodes);
    waits_.reserve(waits);
  }
  void wait(NodeId node, NodeId from, WaitKind kind, std::int64_t lag_ns = 0) {
    waits_.emplace_back(node, Wait(from, kind, lag_ns));
  }
  /// Returns the graph with delays that reproduce the measured starts. Starts are shifted so that
  /// the first start is 0.
  [[nodiscard]] JobGraph built(Trust trust = Trust::kTimes);
  /// Returns the graph node of each add(). Call it after built().
  [[nodiscard]] const std::vector<NodeId>& numbers() const { return numbers_; }

private:
  [[nodiscard]] std::vector<NodeId> start_order() const;
  [[nodiscard]] std::vector<NodeId> wait_order() const;
  std::vector<std::int64_t> start_ns_, dur_ns_;
  std::vector<NodeWait> waits_;
  std::vector<NodeId> numbers_;
};

/// The changes of a replay. Empty columns: as measured. Few edits change delays or waits.
struct JobEdit {
  std::vector<std::int64_t> dur_ns;   ///< by node
  std::vector<std::int64_t> delay_ns; ///< by node
  /// The waits that are left out, by node: bits bit_of(kind).
  std::vector<std::uint8_t> without;

  [[nodiscard]] std::int64_t duration(const JobGraph& graph, NodeId n) const {
    return dur_ns.empty() ? graph.dur_ns(n) : dur_ns[n];
  }
  static JobEdit of(const JobGraph& graph); ///< measured durations
  /// Returns the delay of the node, to be changed.
  [[nodiscard]] std::int64_t& delay(const JobGraph& graph, NodeId n);
  void leave_out(const JobGraph& graph, NodeId n, WaitKind kind);
  [[nodiscard]] static constexpr std::uint8_t bit_of(WaitKind kind) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
  }
};

/// Returns the start of each node; its end is start + duration. O(nodes + waits).
[[nodiscard]] std::vector<std::int64_t> replay_starts(const JobGraph& graph, const JobEdit& edit);
/// Returns the latest end of the replay.
[[nodiscard]] std::int64_t replay_makespan(const JobGraph& graph, const JobEdit& edit);
/// Sets the delays of all nodes with waits to 0.
void clear_delays(const JobGraph& graph, JobEdit& edit);

/// A piece of the critical path: the time from begin to end, which belongs to one node.
struct PathPiece {
  NodeId node = kNoNode;
  std::int64_t begin_ns = 0, end_ns = 0;
  enum class Kind : std::uint8_t {
    kActivity, ///< the activity ran
    kLag,      ///< the usual time from the end of the node's wait to its start
    kDelay,    ///< time that the graph does not explain
  } kind = Kind::kActivity;
  WaitKind wait_kind = WaitKind::kStream; ///< of kLag and kDelay: the kind of the node's last wait
  bool first = false;                     ///< of kDelay: the node waits for nothing
};

/// Returns the path back from the latest end through the wait that decided each start, in the order
/// of time. The pieces touch each other, and their lengths add up to the makespan.
[[nodiscard]] std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit = {});
/// Returns the path back from the end of `last` to `from_ns`, which is in the first piece. `start`:
/// replay_starts().
[[nodiscard]] std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit,
                                                   std::span<const std::int64_t> start, NodeId last,
                                                   std::int64_t from_ns = 0);

/// Measures of how well the graph explains the run.
struct JobGraphQuality {
  std::int64_t makespan_ns = 0;
  std::int64_t path_ns = 0;        ///< length of the given path
  std::int64_t unexplained_ns = 0; ///< delays on the path
  std::int64_t inferred_ns = 0;    ///< lags of inferred waits on the path
  std::int64_t negative_ns = 0;    ///< sum of negative delays
  std::size_t negative = 0;        ///< nodes with a negative delay
  std::size_t contradicted = 0;
  /// Makespan with all delays 0, except delays of nodes without waits.
  std::int64_t without_delays_ns = 0;

  /// Returns the share of delays and inferred waits in the path.
  [[nodiscard]] double unexplained_percent() const;
  /// Returns |without delays / measured - 1| in percent.
  [[nodiscard]] double without_delays_percent() const;
};
/// Returns the quality of the graph. `path`: critical_path() of the graph, or the reported part of
/// it.
[[nodiscard]] JobGraphQuality quality_of(const JobGraph& graph, std::span<const PathPiece> path);

} // namespace rankscope
