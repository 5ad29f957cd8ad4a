// Collectives of many ranks and groups in few rows.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A line for each time that ranks differ in: smallest, quartiles and largest over the ranks, and
/// whose the largest is. Empty for a rank alone.
[[nodiscard]] std::vector<std::string> rank_spreads(const CollectiveFacts& facts);

/// Rows of the same name, type, size and group size, whatever their group: thousands of groups of
/// two become a row ("5000 groups"). Means by the number of collectives; medians, deviations and
/// extremes of the mean alone. Most latency first.
[[nodiscard]] std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
