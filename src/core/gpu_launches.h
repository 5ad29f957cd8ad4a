// Which runtime call launched which GPU work: the links of docs/reference/report-rules.md 3.
#pragma once

#include "core/trace.h"

#include <utility>
#include <vector>

namespace rankscope {

/// The GPU events that each runtime event launched.
struct Launches {
  std::vector<std::pair<EventId, EventId>> pairs; ///< (runtime, gpu), sorted by runtime
};

/// By correlation, or by external ids where launches have no correlation; O(n log n).
/// `flows_required`: a launch needs both ends of its flow, also in a trace without any.
[[nodiscard]] Launches find_launches(const Trace& trace, bool flows_required);

} // namespace rankscope
