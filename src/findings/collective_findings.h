// Findings about the collectives of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_facts.h"
#include "core/finding.h"
#include "core/report.h"

#include <optional>
#include <span>
#include <vector>

namespace rankscope {

/// Returns findings about late ranks, slow links and collectives, the kind with the most exposed
/// time, and data that are missing in the values.
[[nodiscard]] std::vector<Finding> collective_findings(const CollectiveFacts& facts);

/// Returns the finding about a slow link between the members of a group. `steps`: number of steps
/// in the traces; 0: fewer than two.
[[nodiscard]] Finding slow_link_finding(const SlowGroup& group, std::size_t steps);

/// Returns collective_tables(), with the findings before them.
[[nodiscard]] Report collective_report(const CollectiveFacts& facts,
                                       const CollectiveOptions& options);

/// Inserts the findings before the other tables.
void put_findings_first(Report& report, std::span<const Finding> findings);

/// Returns the fraction (0 to 1) of a run's communication time in which ranks wait for the last
/// member. The transfer time of a collective is the duration of the last member's kernel. Empty if
/// members of collectives are missing.
[[nodiscard]] std::optional<double> waiting_share(const ConfigurationRanks& run,
                                                  std::span<const SyncSummary> collectives);

} // namespace rankscope
