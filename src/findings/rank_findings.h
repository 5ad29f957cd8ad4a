// Findings about slow and late ranks.
#pragma once

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Returns one finding for each range of slow ranks; the range with the largest excess is first. If
/// no rank is slow, one finding contains the smallest excess that the tests could detect. If there
/// are several configurations, a rank is described by the values of the configuration in which it
/// is slowest. Empty if no rank could be tested.
[[nodiscard]] std::vector<Finding> slow_rank_findings(const SlowRanks& slow);

/// Returns the same kind of findings for ranks that start collectives late. `per_node`: number of
/// GPUs per node; 0 = unknown. `links`: groups with a slow link, because of which their members
/// start other collectives late.
[[nodiscard]] std::vector<Finding> late_rank_findings(const LateRanks& late, std::int64_t per_node,
                                                      std::span<const SlowGroup> links);

} // namespace rankscope
