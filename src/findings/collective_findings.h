// What the collectives of a run show.
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

/// Late ranks, slow links and collectives, the most exposed kind, and what the values leave out.
[[nodiscard]] std::vector<Finding> collective_findings(const CollectiveFacts& facts);

/// A slow link between the members of a group. `steps` of the traces; 0: fewer than two.
[[nodiscard]] Finding slow_link_finding(const SlowGroup& group, std::size_t steps);

/// collective_tables() with their findings in front.
[[nodiscard]] Report collective_report(const CollectiveFacts& facts,
                                       const CollectiveOptions& options);

/// Puts the findings in front of the other tables.
void put_findings_first(Report& report, std::span<const Finding> findings);

/// The part of a run's communication time that waits for the last member, 0 to 1. The transfer is
/// what the last member's kernel takes. None where collectives lack members.
[[nodiscard]] std::optional<double> waiting_share(const ConfigurationRanks& run,
                                                  std::span<const SyncSummary> collectives);

} // namespace rankscope
