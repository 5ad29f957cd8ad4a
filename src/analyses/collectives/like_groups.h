// Short summaries of collectives over many ranks and groups.
#pragma once

#include "analyses/collectives/collective_facts.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Returns a line for each kind of time in which ranks differ. A line shows the minimum, quartiles
/// and maximum over the ranks, and the rank with the maximum. Empty for a single rank.
[[nodiscard]] std::vector<std::string> rank_spreads(const CollectiveFacts& facts);

/// Merges rows with the same name, type, size and group size: thousands of groups of two become one
/// row ("5000 groups"). Means are weighted by the number of collectives; medians, deviations and
/// extremes are unknown. Returns the rows with the most latency first.
[[nodiscard]] std::vector<SyncSummary> over_like_groups(std::span<const SyncSummary> rows);

} // namespace rankscope
