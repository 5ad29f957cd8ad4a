// What stragglers cost a pipeline-parallel job (analyses/job/stragglers.h), as findings.
#pragma once

#include "analyses/job/whatif.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Of a pipeline-parallel job whose slowdown is at least 1.03. Ranks of other runs are named by
/// `top` and `why`, which test them.
[[nodiscard]] std::vector<Finding> straggler_findings(const WhatIfFacts& facts);

} // namespace rankscope
