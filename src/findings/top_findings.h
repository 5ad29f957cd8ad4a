// The findings of one run.
#pragma once

#include "analyses/job/causes.h"
#include "analyses/top/top_facts.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// `facts`: top_facts() of the parts. Findings over ranks are those of `analyze` and `collectives`;
/// `collectives` may be null, as may `causes`, of which the first three come first.
[[nodiscard]] std::vector<Finding> top_findings(const TopFacts& facts, const TopParts& parts,
                                                const CollectiveFacts* collectives,
                                                const CauseFacts* causes);

} // namespace rankscope
