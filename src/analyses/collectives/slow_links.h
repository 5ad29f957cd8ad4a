// Process groups with slower collectives than the other groups of their kind and size, which
// indicates a slow link between their members.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <span>
#include <vector>

namespace rankscope {

/// A group compared with the other groups that have the same kind of collective: the same name,
/// type, size, number of members and node span.
struct SlowGroup {
  const SyncSummary* row = nullptr;
  double bus_gbps = 0;    ///< mean of the group's collectives
  double usual_gbps = 0;  ///< median of the other groups
  std::size_t others = 0; ///< number of other groups

  [[nodiscard]] double percent_below() const { return (1 - bus_gbps / usual_gbps) * 100; }
};
/// Returns slow groups, largest difference first; each group once, with its worst kind of
/// collective. A slow group is at least ten percent below the median of at least eight other
/// groups, and beyond their scatter (test_ranks() with one sample per group).
[[nodiscard]] std::vector<SlowGroup> slow_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
