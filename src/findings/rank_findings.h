// Slow and late ranks.
#pragma once

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// One for each range of slow ranks, the largest excess first; without any, one that says what
/// could have been seen. With several configurations each rank is described by the one in which it
/// is slowest. Empty where nothing could be tested.
[[nodiscard]] std::vector<Finding> slow_rank_findings(const SlowRanks& slow);

/// The same of ranks that start collectives late. `per_node`: GPUs of a node; 0 = unknown. `links`:
/// groups behind a slow link, which makes their members late elsewhere.
[[nodiscard]] std::vector<Finding> late_rank_findings(const LateRanks& late, std::int64_t per_node,
                                                      std::span<const SlowGroup> links);

} // namespace rankscope
