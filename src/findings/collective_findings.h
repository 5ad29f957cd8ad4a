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

/// Returns the finding about a slow link between the members of a group.
[[nodiscard]] Finding slow_link_finding(const SlowGroup& group);

/// Returns collective_tables(), with the findings before them.
[[nodiscard]] Report collective_report(const CollectiveFacts& facts,
                                       const CollectiveOptions& options);

/// Inserts the findings before the other tables.
void put_findings_first(Report& report, std::span<const Finding> findings);

} // namespace rankscope
