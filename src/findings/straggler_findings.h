// Findings about the cost of stragglers in a pipeline-parallel job (analyses/job/stragglers.h).
#pragma once

#include "analyses/job/whatif.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns the findings if the job is pipeline-parallel and its slowdown is at least 1.03. For
/// other jobs, `top` and `why` test the ranks.
[[nodiscard]] std::vector<Finding> straggler_findings(const WhatIfFacts& facts);

} // namespace rankscope
