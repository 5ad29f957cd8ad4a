// The job graph: the activities of a run, what each of them waits for, and the replay of the run
// with other durations (docs/reference/job-graph.md). Columns, no objects; nodes are numbered so
// that an activity comes after everything that it waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffU;

/// Why an activity cannot begin before another one has ended.
enum class WaitKind : std::uint8_t {
  kStream,      ///< GPU work after the work before it on its stream
  kLaunch,      ///< GPU work after the host's activity up to its launch
  kHost,        ///< a host activity after the one before it on its thread
  kBlocking,    ///< a call returns after the GPU work that it waits for
  kMember,      ///< the transfer of a collective after the arrival of each member
  kOtherStream, ///< inferred: GPU work that begins when work on another stream ends
  kHandOver,    ///< inferred: a thread goes on when another one has finished
  kQueue,       ///< inferred: a launch returns when the queue has a place
};
inline constexpr std::size_t kWaitKinds = 8;
[[nodiscard]] constexpr bool is_inferred(WaitKind kind) {
  return kind >= WaitKind::kOtherStream;
}

/// An activity begins when everything that it waits for has ended, each plus its lag, and after its
/// own delay. Times in ns from the begin of the run.
class JobGraph {
public:
  [[nodiscard]] std::size_t size() const { return start_ns_.size(); }
  [[nodiscard]] std::int64_t start_ns(NodeId n) const { return start_ns_[n]; }
  [[nodiscard]] std::int64_t dur_ns(NodeId n) const { return dur_ns_[n]; }
  [[nodiscard]] std::int64_t end_ns(NodeId n) const { return start_ns_[n] + dur_ns_[n]; }
  /// Start minus the latest end of its waits; negative where times contradict the graph.
  [[nodiscard]] std::int64_t delay_ns(NodeId n) const { return delay_ns_[n]; }

  struct Wait {
    NodeId from = kNoNode;
    std::int32_t lag_ns = 0;
    WaitKind kind = WaitKind::kStream;
  };
  [[nodiscard]] std::span<const Wait> waits(NodeId n) const {
    return {waits_.data() + first_wait_[n], waits_.data() + first_wait_[n + 1]};
  }
  [[nodiscard]] std::size_t wait_count() const { return waits_.size(); }
  /// Waits that were left out because times say that they are wrong, by kind.
  [[nodiscard]] std::size_t contradicted() const { return contradicted_; }
  /// The latest end.
  [[nodiscard]] std::int64_t makespan_ns() const;
  /// Takes the durations of the edit and the starts of its replay; delays stay.
  void replay(const struct JobEdit& edit);

private:
  friend class JobGraphBuilder;
  std::vector<std::int64_t> start_ns_, dur_ns_, delay_ns_;
  std::vector<std::uint32_t> first_wait_; ///< size() + 1
  std::vector<Wait> waits_;
  std::size_t contradicted_ = 0;
};

/// How a wait is read whose node starts before the other one ends.
enum class Trust : std::uint8_t {
  kTimes, ///< the wait is wrong: it is left out and counted
  kWaits, ///< the clocks differ: the node has a negative delay. Only waits in a circle are left out
};

/// Collects nodes and waits in any order. `built()` numbers the nodes by start, or so that every
/// wait is met; equal ones in the order of add(). O(n log n).
class JobGraphBuilder {
public:
  /// Returns the number of the node for wait(); numbers() maps it to the one in the graph.
  NodeId add(std::int64_t start_ns, std::int64_t dur_ns);
  void wait(NodeId node, NodeId from, WaitKind kind, std::int32_t lag_ns = 0);
  /// Sets delays to what the starts ask for. Starts are shifted so that the first one is 0.
  [[nodiscard]] JobGraph built(Trust trust = Trust::kTimes);
  /// After built(): the node of each add().
  [[nodiscard]] const std::vector<NodeId>& numbers() const { return numbers_; }

private:
  struct Added {
    NodeId node, from;
    std::int32_t lag_ns;
    WaitKind kind;
  };
  [[nodiscard]] std::vector<NodeId> by_start() const;
  [[nodiscard]] std::vector<NodeId> by_waits() const;
  std::vector<std::int64_t> start_ns_, dur_ns_;
  std::vector<Added> waits_;
  std::vector<NodeId> numbers_;
};

/// What a replay changes. Empty columns: as measured.
struct JobEdit {
  std::vector<std::int64_t> dur_ns;   ///< by node
  std::vector<std::int64_t> delay_ns; ///< by node
  /// By node: the bits bit_of(kind) of its waits that are left out.
  std::vector<std::uint8_t> without;

  [[nodiscard]] std::int64_t duration(const JobGraph& graph, NodeId n) const {
    return dur_ns.empty() ? graph.dur_ns(n) : dur_ns[n];
  }
  static JobEdit of(const JobGraph& graph); ///< with the measured durations and delays, all waits
  [[nodiscard]] static constexpr std::uint8_t bit_of(WaitKind kind) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
  }
};

/// Start of each node; end = start + duration. O(nodes + waits).
[[nodiscard]] std::vector<std::int64_t> replay_starts(const JobGraph& graph, const JobEdit& edit);
/// The latest end of the replay.
[[nodiscard]] std::int64_t replay_makespan(const JobGraph& graph, const JobEdit& edit);
/// Sets the delays of all nodes that wait for something to 0.
void clear_delays(const JobGraph& graph, JobEdit& edit);

/// A piece of the critical path: the time from begin to end belongs to this node.
struct PathPiece {
  NodeId node = kNoNode;
  std::int64_t begin_ns = 0, end_ns = 0;
  enum class Of : std::uint8_t {
    kActivity, ///< the activity ran
    kLag,      ///< the usual time from the end of its wait to its start
    kDelay,    ///< time that the graph does not explain
  } of = Of::kActivity;
  WaitKind by = WaitKind::kStream; ///< of kLag and kDelay: the kind of its last wait
  bool first = false;              ///< of kDelay: it waits for nothing
};

/// From the latest end back through the wait that decided each start, in the order of time. The
/// pieces touch each other and their lengths add up to the makespan.
[[nodiscard]] std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit = {});
/// The same back from the end of `last` to `from_ns`, which is in the first piece; `start`:
/// replay_starts().
[[nodiscard]] std::vector<PathPiece> critical_path(const JobGraph& graph, const JobEdit& edit,
                                                   std::span<const std::int64_t> start, NodeId last,
                                                   std::int64_t from_ns = 0);

/// How far the graph explains the run.
struct JobGraphQuality {
  std::int64_t makespan_ns = 0;
  std::int64_t path_ns = 0;        ///< length of the path that is judged
  std::int64_t unexplained_ns = 0; ///< delays on the path
  std::int64_t inferred_ns = 0;    ///< lags on the path of inferred waits
  std::int64_t negative_ns = 0;    ///< sum of negative delays
  std::size_t negative = 0;        ///< nodes with a negative delay
  std::size_t contradicted = 0;
  std::int64_t without_delays_ns = 0; ///< makespan with all delays 0, those without waits aside

  /// Of the path, in delays and inferred waits.
  [[nodiscard]] double unexplained_percent() const;
  /// |without delays / measured - 1|
  [[nodiscard]] double without_delays_percent() const;
};
/// `path`: critical_path() of the graph, or the part of it that is reported.
[[nodiscard]] JobGraphQuality quality_of(const JobGraph& graph, std::span<const PathPiece> path);

} // namespace rankscope
