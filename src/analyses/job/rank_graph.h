// The activities of one rank: its GPU work, and what its launching threads did between and during
// the calls that launch it. What the job graph is joined from; docs/reference/job-graph.md.
#pragma once

#include "analyses/analysis.h"
#include "analyses/job/job_graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class ActivityKind : std::uint8_t {
  kHost,       ///< the thread between two calls of the runtime: Python, operators, the framework
  kCall,       ///< a call of the runtime
  kKernel,     ///< GPU kernels except collectives
  kCollective, ///< the kernel of a collective
  kCopy,
  kSet,
};
inline constexpr std::size_t kActivityKinds = 6;
/// "host", "call", "kernel", ...: stable.
[[nodiscard]] std::string_view activity_kind_name(ActivityKind kind);
[[nodiscard]] constexpr bool on_gpu(ActivityKind kind) {
  return kind >= ActivityKind::kKernel;
}

/// What an activity is; equal activities share one. Texts are ids of RankGraph::texts.
struct Activity {
  ActivityKind kind = ActivityKind::kHost;
  /// Of a kernel or call its name. Of the host the innermost range (frame, operator, annotation)
  /// that covers at least half of the stretch; empty: none does.
  StrId name = kEmptyStr;
  StrId op = kEmptyStr; ///< the operator around its launch; of the host the outermost one behind
  /// The outermost operator or annotation around its launch; of the host the one before it.
  StrId context = kEmptyStr;
  StrId shapes = kEmptyStr, types = kEmptyStr; ///< of the operator's inputs
  std::int64_t bytes = kNoId;                  ///< of a copy
  auto operator<=>(const Activity&) const = default;
};

/// A node of the rank, as JobGraphBuilder::add() takes them.
struct RankNode {
  std::int64_t start_ns = 0, dur_ns = 0; ///< on the clock of the file
  std::uint32_t activity = 0;            ///< row of RankGraph::activities
  std::uint32_t line = 0;                ///< row of RankGraph::lines
  std::int32_t step = -1;                ///< row of RankGraph::steps; -1: outside of all
  std::uint32_t recorded = 0;            ///< of the host: ranges and calls that begin in it
};

struct RankWait {
  NodeId node = 0, from = 0;
  std::int32_t lag_ns = 0;
  WaitKind kind = WaitKind::kStream;
};

/// A thread or a stream.
struct RankLine {
  bool stream = false;
  std::int64_t id = 0;     ///< stream, or thread
  std::int64_t device = 0; ///< or process
};

struct RankGraph {
  std::int64_t rank = 0;
  std::int64_t base_time_ns = 0;   ///< unix time of the file's 0
  std::vector<std::int64_t> steps; ///< numbers of the complete steps in it
  std::vector<std::int64_t> step_begin_ns;
  std::vector<RankNode> nodes;
  std::vector<RankWait> waits;
  std::vector<RankLine> lines;
  std::vector<Activity> activities;
  StringPool texts;
  std::string board; ///< all of the trace's devices are this known one; "" = none
  std::int64_t unlinked_ns = 0, gpu_ns = 0;
  /// Of unlinked_ns, before the first work of its stream that a call of the window launched; and
  /// when the last of that ended, from the window's begin.
  std::int64_t early_ns = 0, early_until_ns = 0;
  bool stacks = false;            ///< Python frames were recorded
  double frame_cost_percent = 0;  ///< HostRanges::frame_cost_percent() of the launching threads
  bool blocking_launches = false; ///< at least 90 % of the launches return after their kernel

  [[nodiscard]] std::string_view text(StrId id) const { return texts.view(id); }
  [[nodiscard]] const Activity& activity(NodeId n) const { return activities[nodes[n].activity]; }
};

/// Of the trace's complete profiler steps; of all of it where it has no steps. Waits:
/// - GPU work: the work before it on its stream; the host until its launch; and where it begins
///   more than kUnexplainedNs after these, the work on another stream that ended then (inferred);
/// - a call: the host activity before it; one that blocks, or that returns after the end of its
///   copy: the GPU work whose end it waited for, where that is within the call; a long launch
///   into a full queue: the work of its stream that ended last (inferred);
/// - a host activity: the call before it on its thread; or, where another thread of the process has
///   called since, that call (inferred).
/// O(n log n).
[[nodiscard]] RankGraph rank_graph_of(const LoadedTrace& trace);

inline constexpr std::int64_t kUnexplainedNs = 5'000;

} // namespace rankscope
