// The findings of one run.
#pragma once

#include "analyses/job/causes.h"
#include "analyses/top/top_facts.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns the findings of a run. `facts`: top_facts() of the parts. Findings over ranks are the
/// same as in `analyze` and `collectives`. `collectives` and `causes` may be null. The first three
/// causes are the first findings.
[[nodiscard]] std::vector<Finding> top_findings(const TopFacts& facts, const TopParts& parts,
                                                const CollectiveFacts* collectives,
                                                const CauseFacts* causes);

} // namespace rankscope
