// What the collectives of a run say, in sentences.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "base/statistics.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The rank that comes later to the collectives than the others on average, with the interval of
/// its lateness (one comparison for each rank), by the steps.
struct LateRank {
  const Straggler* rank = nullptr;
  MeanDifference late; ///< us after the others

  [[nodiscard]] bool told() const { return late.difference > late.half_width; }
};
/// None with fewer than two ranks or two steps: a single one has no noise to compare with.
[[nodiscard]] std::optional<LateRank> latest_rank(const CollectiveFacts& facts);

/// From the facts (their `findings` are not looked at).
[[nodiscard]] std::vector<Finding> collective_findings(const CollectiveFacts& facts);

/// A line for each time that ranks differ in: smallest, quartiles and largest over the ranks, and
/// whose the largest is. Empty for a rank alone.
[[nodiscard]] std::vector<std::string> rank_spreads(const CollectiveFacts& facts);

/// Rows of the same name, type, size and group size, whatever their group: thousands of groups of
/// two become a row ("5000 groups"). Means by the number of collectives; medians, deviations and
/// extremes of the mean alone. Most latency first.
[[nodiscard]] std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
