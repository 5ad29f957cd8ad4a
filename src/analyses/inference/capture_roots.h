// The parts of a capture's call tree that recorded a graph: the events between the begin and the
// end of a stream capture.
#pragma once

#include "core/loaded_trace.h"

#include <vector>

namespace rankscope {

/// One recorded graph.
struct CaptureRoot {
  std::int64_t start_ns = 0;     ///< end of the call that began the capture
  std::int64_t end_ns = 0;       ///< start of the call that ended the capture
  std::uint32_t track = 0;       ///< track of the call that began the capture
  std::vector<EventId> children; ///< outermost events of the recorded part, file order
  /// The children and all events below them, ordered by start, without GPU work.
  std::vector<EventId> below;
  std::vector<EventId> dispatches; ///< launches, copies and memsets in `below`, in the same order
};

/// Returns the recorded graphs in the order of their start. Begin calls without an end call and end
/// calls without a begin call are left out. With `compat`, the k-th begin call in the file is
/// paired with the k-th end call, even if their threads differ; events of all threads are used, but
/// only operators and frames with a parent outside the capture.
[[nodiscard]] std::vector<CaptureRoot> capture_roots(const LoadedTrace& capture, bool compat);

} // namespace rankscope
