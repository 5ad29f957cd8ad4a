// The activities of one rank: its GPU work, and the activities of its launching threads between and
// during the calls that launch it. The job graph joins these rank graphs;
// docs/reference/job-graph.md.
#pragma once

#include "analyses/analysis.h"
#include "analyses/job/job_graph.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class ActivityKind : std::uint8_t {
  kHost,       ///< the thread between two runtime calls: Python, operators, the framework
  kCall,       ///< a runtime call
  kKernel,     ///< GPU kernels except collectives
  kCollective, ///< the kernel of a collective
  kCopy,
  kSet,
};
inline constexpr std::size_t kActivityKinds = 6;
/// Returns "host", "call", "kernel", ... These names are stable.
[[nodiscard]] std::string_view activity_kind_name(ActivityKind kind);
[[nodiscard]] constexpr bool on_gpu(ActivityKind kind) {
  return kind >= ActivityKind::kKernel;
}

/// The description of an activity, shared by equal activities. Texts are ids of RankGraph::texts.
struct Activity {
  ActivityKind kind = ActivityKind::kHost;
  /// The name of a kernel or call. For the host, the range (frame, operator, annotation) that
  /// covers at least half of the stretch: one that shows what the host does, else the innermost
  /// one. Empty if there is no such range.
  StrId name = kEmptyStr;
  /// The operator around the launch. For a collective, its name, if that is recorded. For the host,
  /// the outermost operator or annotation after it.
  StrId op = kEmptyStr;
  /// The outermost operator or annotation around the launch; the range of an optimizer or of a
  /// checkpoint, if there is one. For the host, the one before it.
  StrId context = kEmptyStr;
  StrId shapes = kEmptyStr, types = kEmptyStr; ///< inputs of the operator
  std::int64_t bytes = kNoId;                  ///< size of a copy
  /// For a collective, the operators around the launch, innermost first: record_param_comms and
  /// c10d::allreduce_. Others are left out.
  std::array<StrId, 2> callers{kEmptyStr, kEmptyStr};
  auto operator<=>(const Activity&) const = default;
};

/// A node of the rank in the form for JobGraphBuilder::add().
struct RankNode {
  std::int64_t start_ns = 0, dur_ns = 0; ///< on the clock of the file
  std::uint32_t activity = 0;            ///< row of RankGraph::activities
  std::uint16_t line = 0;                ///< row of RankGraph::lines
  /// Of the host: number of ranges and calls that begin in it, at most 65,535.
  std::uint16_t recorded = 0;
};
inline constexpr std::size_t kMostLines = 65'536; ///< further lines count as the last one

/// A thread or a stream.
struct RankLine {
  bool stream = false;
  std::int64_t id = 0;     ///< stream or thread
  std::int64_t device = 0; ///< device or process
};

struct RankGraph {
  std::int64_t rank = 0;
  std::int64_t base_time_ns = 0;   ///< unix time of the file's time 0
  std::vector<std::int64_t> steps; ///< numbers of the complete steps
  std::vector<std::int64_t> step_begin_ns;
  std::vector<RankNode> nodes;
  /// By node: row of `steps`; -1: outside of all steps. Empty in a JobRun, which has step_at.
  std::vector<std::int32_t> step_of;
  /// By call: the part of the host activity before it that is inside the operator around the call
  /// (inside an optimizer: in the optimizer's range). Node 2c is the host activity before call c,
  /// and node 2c + 1 is the call.
  std::vector<std::uint32_t> operator_ns;
  std::vector<NodeWait> waits;
  std::vector<RankLine> lines;
  std::vector<Activity> activities;
  StringPool texts;
  std::string gpu_model; ///< the known model of all devices of the trace; "": unknown or different
  std::int64_t unlinked_ns = 0, gpu_ns = 0;
  /// The part of unlinked_ns before the first work on its stream that a call of the window
  /// launched. early_until_ns: the end of the last such work, from the window's begin.
  std::int64_t early_ns = 0, early_until_ns = 0;
  bool stacks = false;            ///< Python frames were recorded
  double frame_cost_percent = 0;  ///< HostRanges::frame_cost_percent() of the launching threads
  bool blocking_launches = false; ///< at least 90 % of the launches return after their kernel ends

  [[nodiscard]] std::string_view text(StrId id) const { return texts.view(id); }
  [[nodiscard]] const Activity& activity(NodeId n) const { return activities[nodes[n].activity]; }
};

/// Returns whether this call waits for the GPU or makes the driver wait for it, by its name.
[[nodiscard]] bool may_block(std::string_view call);

/// Returns the graph of the trace's complete profiler steps, or of the entire trace if it has no
/// steps. The waits are:
/// - GPU work waits for the work before it on its stream, and for the host until its launch. If it
///   begins more than kUnexplainedNs after these, it waits for work on another stream that ended
///   then (inferred). After a blocking call, it waits for the work of other streams before it too.
/// - A call waits for the host activity before it. A call that blocks, or that returns after the
///   end of its copy, waits for GPU work that ends within the call. A long launch into a full queue
///   waits for the work of its stream that ended last (inferred).
/// - A host activity waits for the call before it on its thread. If another thread of the process
///   has called since then, it waits for that thread's call (inferred).
/// O(n log n).
[[nodiscard]] RankGraph rank_graph_of(const LoadedTrace& trace);

inline constexpr std::int64_t kUnexplainedNs = 5'000;

} // namespace rankscope
