// Links runtime calls to the GPU work that they launched (docs/reference/report-rules.md 3).
#pragma once

#include "core/trace.h"

#include <utility>
#include <vector>

namespace rankscope {

/// The links between runtime events and the GPU events that they launched.
struct Launches {
  std::vector<std::pair<EventId, EventId>> pairs; ///< (runtime, gpu), sorted by runtime
};

/// The rules for links and call stacks.
enum class TreeRules : std::uint8_t {
  kRankscope, ///< rules of rankscope: ids link calls and GPU work; if several events have the same
              ///< id, flows decide; end times are exact
  kReference, ///< rules of the reference of `report`: if the trace has flows, only flows link; end
              ///< times are doubles
  kBatchReference, ///< rules of the older reference of the batch report: only flows link; end times
                   ///< are doubles
};

/// Returns the links by correlation id, or by external id if launches have no correlation id. O(n
/// log n).
[[nodiscard]] Launches find_launches(const Trace& trace, TreeRules rules);

} // namespace rankscope
