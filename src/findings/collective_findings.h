// Findings about the collectives of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/collectives/slow_links.h"
#include "core/finding.h"
#include "core/report.h"

#include <span>
#include <vector>

namespace rankscope {

/// Returns findings about late ranks, slow links and collectives, the kind with the most exposed
/// time, and data that are missing in the values.
[[nodiscard]] std::vector<Finding> collective_findings(const CollectiveFacts& facts);

/// Returns the finding about a slow link between the members of a group. `shared`:
/// shared_link_action() of all slow groups.
[[nodiscard]] Finding slow_link_finding(const SlowGroup& group, const std::string& shared);
/// Returns the action for the rank or the node that all slow groups share; "" without one, or with
/// several. `per_node`: ranks per node; 0: unknown.
[[nodiscard]] std::string shared_link_action(std::span<const SlowGroup> slow,
                                             std::span<const SyncSummary> rows,
                                             std::int64_t per_node);

/// Returns collective_tables(), with the findings before them.
[[nodiscard]] Report collective_report(const CollectiveFacts& facts,
                                       const CollectiveOptions& options);

/// Inserts the findings before the other tables.
void put_findings_first(Report& report, std::span<const Finding> findings);

} // namespace rankscope
