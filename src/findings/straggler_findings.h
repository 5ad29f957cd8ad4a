// Findings about the cost of stragglers in a pipeline-parallel job (analyses/job/stragglers.h).
#pragma once

#include "analyses/job/whatif.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns the findings, largest gain first, if the job is pipeline-parallel and its slowdown is at
/// least 1.03. For other jobs, `top` and `why` test the ranks. A cause is reported if it explains
/// at least half of the slowdown and removing it gains time (95 % interval over the steps):
/// - sequence lengths: the micro-batch correlation is at least 0.9, including its interval;
/// - the last stage: also if its work is only moved to the other stages, which is the reported
/// gain;
/// - a few ranks.
/// Without such a cause, one finding gives the cost and the part that each cause explains.
[[nodiscard]] std::vector<Finding> straggler_findings(const WhatIfFacts& facts);

} // namespace rankscope
