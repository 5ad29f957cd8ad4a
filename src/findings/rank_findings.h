// Findings on slow and late ranks.
#pragma once

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Returns one finding per range of slow ranks, the largest excess first. Without slow ranks, one
/// finding gives the smallest excess that the tests could detect. With several configurations, each
/// rank is described by the one in which it is slowest. Empty if no rank could be tested.
[[nodiscard]] std::vector<Finding> slow_rank_findings(const SlowRanks& slow);

/// Returns such findings for ranks that start collectives late. `per_node`: GPUs of a node; 0 =
/// unknown. `links`: groups behind a slow link, which makes their members late elsewhere.
[[nodiscard]] std::vector<Finding> late_rank_findings(const LateRanks& late, std::int64_t per_node,
                                                      std::span<const SlowGroup> links);

} // namespace rankscope
