// Links from runtime calls to the GPU work that they launched (docs/reference/report-rules.md 3).
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
  kOwn, ///< rules of rankscope: ids link; flows decide where several share an id; ends are exact
  kReference, ///< rules of the report's reference: in a trace with flows, only flows link; ends are
              ///< doubles
  kBatchReference, ///< rules of the batch report's older reference: only flows link; ends are
                   ///< doubles
};

/// Returns the links by correlation, or by external id if launches have no correlation; O(n log n).
[[nodiscard]] Launches find_launches(const Trace& trace, TreeRules rules);

} // namespace rankscope
