// Findings about slow and late ranks.
#pragma once

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The kernels of one operator (or family of kernels) on a rank, as sums over its trace.
struct WorkSum {
  double kernel_ns = 0;
  std::int64_t calls = 0;
};
/// The work of each rank, by rank and name of the operator, without collectives.
using WorkByRank = std::map<std::int64_t, std::map<std::string, WorkSum>>;

/// Returns one finding for each range of slow ranks; the range with the largest excess is first. If
/// no rank is slow, one finding contains the smallest excess that the tests could detect. If there
/// are several configurations, a rank is described by the values of the configuration in which it
/// is slowest. Without a test, a finding says that one step of few ranks is not sufficient.
/// `operators`: for the action, which compares the work of the rank with the median of its peers;
/// if it is empty, GEMM kernels and other kernels are compared. `per_node`: number of GPUs per
/// node; 0 = unknown.
[[nodiscard]] std::vector<Finding> slow_rank_findings(const SlowRanks& slow,
                                                      const WorkByRank& operators = {},
                                                      std::int64_t per_node = 0);

/// Returns the same kind of findings for ranks that start collectives late. `links`: groups with a
/// slow link, because of which their members start other collectives late.
[[nodiscard]] std::vector<Finding> late_rank_findings(const LateRanks& late, std::int64_t per_node,
                                                      std::span<const SlowGroup> links);

} // namespace rankscope
