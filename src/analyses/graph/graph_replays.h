// The graph launches of a trace with their kernels, sorted into graphs: launches that run the same
// kernels are one graph, so that its kernels are processed once.
#pragma once

#include "analyses/graph/kernel_sequence.h"

#include <vector>

namespace rankscope {

/// One graph launch.
struct GraphReplay {
  EventId launch = kNoEvent;
  std::uint32_t graph = kNoRow;     ///< row of GraphReplays::graphs; kNoRow = no known kernel ran
  std::vector<EventId> kernels;     ///< kernels, copies and memsets, by start
  std::vector<std::uint32_t> nodes; ///< of each: its place in ReplayedGraph::nodes
  std::size_t missing = 0;          ///< nodes that have no kernel here
};

/// All launches of one graph.
struct ReplayedGraph {
  std::int64_t id = kNoId;    ///< CUPTI's, where the trace has it
  bool by_node_id = false;    ///< the order of `nodes`: ids of nodes, else start of the fullest
  std::vector<EventId> nodes; ///< an event for each kernel of a complete launch
  std::vector<std::uint32_t> by_start; ///< places of `nodes` in the order of start
  std::size_t replays = 0;
  std::size_t incomplete = 0; ///< replays with kernels missing
};

struct GraphReplays {
  std::vector<GraphReplay> replays;  ///< by start of the launch
  std::vector<ReplayedGraph> graphs; ///< in order of their first launch
};

/// Returns whether the trace has a call that launches a graph. Fast: reads names only.
[[nodiscard]] bool has_graph_launches(const Trace& trace);

/// Sorts launches into graphs. With node ids, launches of one graph id are one graph, even with
/// kernels missing. Without ids, a graph consists of the launches with the same names, grids and
/// blocks, stream by stream (streams in the order of their first kernel), and of those that lack up
/// to a fifth of these with the rest in order. A launch with ids on all kernels never uses names.
[[nodiscard]] GraphReplays find_graph_replays(const LoadedTrace& trace, KernelSymbols& symbols);

} // namespace rankscope
