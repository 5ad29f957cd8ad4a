// Launches of captured graphs: which calls launch graphs, and how the kernels of a launch got
// operators from a capture.
#pragma once

#include "core/trace.h"

#include <string>
#include <string_view>

namespace rankscope {

/// Returns whether a runtime call launches a captured graph, which contains many kernels. The name
/// may have a version suffix ("cudaGraphLaunch_v10000").
[[nodiscard]] inline bool launches_graph(std::string_view name) {
  return name.starts_with("cudaGraphLaunch") || name.starts_with("hipGraphLaunch") ||
         name.starts_with("cuGraphLaunch");
}

/// How the kernels of a graph launch were matched to the calls of its capture.
enum class GraphMatch : std::uint8_t {
  kNone,     ///< not matched
  kPosition, ///< as many kernels as calls, with the same names at each position
  kStreams,  ///< for each stream, its kernels in order match some of the calls in order
  kGroups,   ///< the k-th kernel with a name matches the k-th call of a kernel with this name
  kGreedy,   ///< in order; each kernel matches the next call with its name, other calls are skipped
  kPartial,  ///< in order; calls and kernels without a match are skipped
};

struct GraphLaunch {
  EventId launch = kNoEvent;
  std::size_t kernels = 0;    ///< number of kernels that the launch ran
  std::size_t attributed = 0; ///< number of kernels that have an operator or call of the capture
  GraphMatch match = GraphMatch::kNone;
  bool unchecked = false; ///< some calls of the capture do not name their kernel and were matched
                          ///< by position only
  std::string capture;    ///< name of the file with the capture
  std::string why;        ///< why the launch is not matched, or only partly
};

} // namespace rankscope
