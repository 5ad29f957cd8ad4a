// Launches of captured graphs: which calls they are, and what is known of those of a trace: which
// of them got operators, from where, how.
#pragma once

#include "core/trace.h"

#include <string>
#include <string_view>

namespace rankscope {

/// A runtime call that replays a captured graph: it launches many kernels. Suffixes of versions
/// ("cudaGraphLaunch_v10000") are let pass.
[[nodiscard]] inline bool launches_graph(std::string_view name) {
  return name.starts_with("cudaGraphLaunch") || name.starts_with("hipGraphLaunch") ||
         name.starts_with("cuGraphLaunch");
}

/// How the kernels of a graph launch were given to the calls of its capture.
enum class GraphMatch : std::uint8_t {
  kNone,     ///< not at all
  kPosition, ///< as many of both, each name in its place
  kStreams,  ///< a queue for each stream
  kGroups,   ///< the k-th call of a name has the k-th kernel of it
  kGreedy,   ///< in order, calls without a kernel passed over
  kPartial,  ///< in order, calls and kernels without a partner passed over
};

struct GraphLaunch {
  EventId launch = kNoEvent;
  std::size_t kernels = 0;    ///< that it ran
  std::size_t attributed = 0; ///< of those: that have an operator or call of the capture
  GraphMatch match = GraphMatch::kNone;
  bool unchecked = false; ///< calls of the capture that name no kernel were taken by their place
  std::string capture;    ///< name of the file
  std::string why;        ///< one that is not matched, or not wholly: the reason
};

} // namespace rankscope
