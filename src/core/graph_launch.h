// Launches of captured graphs: which calls launch graphs, and which launches of a trace got
// operators from a capture.
#pragma once

#include "core/trace.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether a runtime call replays a captured graph, which launches many kernels. The name
/// may have a version suffix ("cudaGraphLaunch_v10000").
[[nodiscard]] inline bool launches_graph(std::string_view name) {
  return name.starts_with("cudaGraphLaunch") || name.starts_with("hipGraphLaunch") ||
         name.starts_with("cuGraphLaunch");
}

/// The method that matched the kernels of a graph launch to the calls of its capture.
enum class GraphMatch : std::uint8_t {
  kNone,     ///< not matched
  kPosition, ///< equal numbers of kernels and calls, with equal names at each position
  kStreams,  ///< one queue per stream
  kGroups,   ///< the k-th call of a kernel name gets the k-th kernel with this name
  kGreedy,   ///< in order; calls without a kernel are skipped
  kPartial,  ///< in order; calls and kernels without a partner are skipped
};

struct GraphLaunch {
  EventId launch = kNoEvent;
  std::size_t kernels = 0;    ///< number of kernels that the launch ran
  std::size_t attributed = 0; ///< kernels with an operator or call of the capture
  GraphMatch match = GraphMatch::kNone;
  bool unchecked = false; ///< some calls of the capture name no kernel and were matched by position
  std::string capture;    ///< name of the file
  std::string why;        ///< the reason if the launch is not matched, or only in part
};

} // namespace rankscope
