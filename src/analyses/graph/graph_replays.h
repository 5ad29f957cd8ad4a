// The graph launches of a trace with their kernels, sorted into graphs. Launches of the same
// kernels are one graph, so that its kernels are processed once.
#pragma once

#include "analyses/graph/kernel_sequence.h"

#include <vector>

namespace rankscope {

/// One graph launch.
struct GraphReplay {
  EventId launch = kNoEvent;
  std::uint32_t graph = kNoRow;     ///< row of GraphReplays::graphs; kNoRow: its kernels are
                                    ///< unknown
  std::vector<EventId> kernels;     ///< kernels, copies and memsets, ordered by start
  std::vector<std::uint32_t> nodes; ///< for each kernel, its position in ReplayedGraph::nodes
  std::size_t missing = 0;          ///< number of nodes without a kernel in this launch
};

/// All launches of one graph.
struct ReplayedGraph {
  std::int64_t id = kNoId; ///< id from CUPTI, if the trace has it
  /// True: `nodes` are ordered by node id; false: by start in a launch with all kernels.
  bool by_node_id = false;
  std::vector<EventId> nodes;          ///< one event for each kernel of a complete launch
  std::vector<std::uint32_t> by_start; ///< positions in `nodes`, ordered by start
  std::size_t replays = 0;
  std::size_t incomplete = 0; ///< replays with missing kernels
};

struct GraphReplays {
  std::vector<GraphReplay> replays;  ///< ordered by start of the launch
  std::vector<ReplayedGraph> graphs; ///< in order of their first launch
};

/// Returns whether the trace has a call that launches a graph. Fast: reads names only.
[[nodiscard]] bool has_graph_launches(const Trace& trace);

/// Sorts launches into graphs. Launches with node ids and the same graph id are one graph, even if
/// kernels are missing. Without ids, launches with the same names, grids and blocks in each stream
/// are one graph; streams are in the order of their first kernel. A launch that lacks up to a fifth
/// of these kernels also belongs to the graph if its kernels are in the same order. Names are not
/// used for a launch in which all kernels have ids.
[[nodiscard]] GraphReplays find_graph_replays(const LoadedTrace& trace, KernelSymbols& symbols);

} // namespace rankscope
