// Process groups whose collectives are slower than those of the other groups of their kind and
// size: a slow link between their members.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <span>
#include <vector>

namespace rankscope {

/// A group against the others whose collectives have the same name, type and size, over as many
/// members within a node or across nodes.
struct SlowGroup {
  const SyncSummary* row = nullptr;
  double bus_gbps = 0;    ///< mean of the group's collectives
  double usual_gbps = 0;  ///< median of the other groups
  std::size_t others = 0; ///< groups

  [[nodiscard]] double percent_below() const { return (1 - bus_gbps / usual_gbps) * 100; }
};
/// Largest difference first; each group once, by its worst kind of collective. At least ten percent
/// below the median of at least eight other groups, and beyond their scatter (test_ranks() of one
/// sample for each group).
[[nodiscard]] std::vector<SlowGroup> slow_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
