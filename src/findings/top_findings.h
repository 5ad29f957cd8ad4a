// The findings of one run.
#pragma once

#include "analyses/top/top_facts.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// `facts`: top_facts() of the parts. Findings over ranks are those of `analyze` and `collectives`;
/// `collectives` may be null.
[[nodiscard]] std::vector<Finding> top_findings(const TopFacts& facts, const TopParts& parts,
                                                const CollectiveFacts* collectives);

} // namespace rankscope
