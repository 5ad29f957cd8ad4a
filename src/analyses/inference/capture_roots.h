// The parts of a capture's call tree that recorded a graph: what ran between the begin and the end
// of a stream capture.
#pragma once

#include "core/loaded_trace.h"

#include <vector>

namespace rankscope {

/// One recorded graph.
struct CaptureRoot {
  std::int64_t start_ns = 0;       ///< end of the call that began the capture
  std::int64_t end_ns = 0;         ///< start of the one that ended it
  std::uint32_t track = 0;         ///< of the call that began it
  std::vector<EventId> children;   ///< outermost events of the part, file order
  std::vector<EventId> below;      ///< all of them and what is below, by start, without GPU work
  std::vector<EventId> dispatches; ///< of those: launches, copies and memsets, same order
};

/// In the order of their beginnings. An end without a beginning, and a beginning that never ended,
/// are left out. `compat`: begin and end are paired by their place in the file whatever their
/// thread, events of all threads count, and only operators and frames that have a parent outside.
[[nodiscard]] std::vector<CaptureRoot> capture_roots(const LoadedTrace& capture, bool compat);

} // namespace rankscope
