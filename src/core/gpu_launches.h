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

/// Whose rules links and call stacks follow.
enum class TreeRules : std::uint8_t {
  kOwn,            ///< ids link; flows decide where several share an id; ends are exact
  kReference,      ///< of the report: a trace with flows links by them alone; ends are doubles
  kBatchReference, ///< of the batch report, which is older: only flows link; ends are doubles
};

/// By correlation, or by external ids where launches have no correlation; O(n log n).
[[nodiscard]] Launches find_launches(const Trace& trace, TreeRules rules);

} // namespace rankscope
