// Findings on the cost of stragglers in a pipeline-parallel job (analyses/job/stragglers.h).
#pragma once

#include "analyses/job/whatif.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns findings for a pipeline-parallel job whose slowdown is at least 1.03. `top` and `why`
/// test and name the ranks of other runs.
[[nodiscard]] std::vector<Finding> straggler_findings(const WhatIfFacts& facts);

} // namespace rankscope
