// The multi-rank collective report: the sheets of CollectiveFacts.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "core/report.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the facts' tables in sheet order; tables without rows are left out.
[[nodiscard]] Report collective_tables(const CollectiveFacts& facts,
                                       const CollectiveOptions& options);

/// Returns the notes under nccl_summary_implicit_sync.
[[nodiscard]] std::vector<std::string> sync_summary_notes(bool compat_tracelens);

} // namespace rankscope
