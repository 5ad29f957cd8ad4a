// The findings of one run.
#pragma once

#include "analyses/top/top_facts.h"
#include "core/finding.h"
#include "findings/top_causes.h"

#include <vector>

namespace rankscope {

/// Returns the findings of a run. `facts`: result of top_facts() for the parts. Findings about
/// ranks are the same as those of `analyze` and `collectives`. `collectives` and `causes` may be
/// null. The first findings are the listed causes.
[[nodiscard]] std::vector<Finding> top_findings(const TopFacts& facts, const TopParts& parts,
                                                const CollectiveFacts* collectives,
                                                const TopCauses* causes);

} // namespace rankscope
