// Where the metrics of many runs change.
#pragma once

#include "analyses/compare/compared_run.h"
#include "analyses/compare/history.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// One for each change of a level, or that there is no change, or that the runs are too few.
[[nodiscard]] std::vector<Finding> history_findings(const History& history);

/// What to know before any value: runs that do other work than the first, or lack metrics.
[[nodiscard]] std::vector<Finding> history_notes(const std::vector<ComparedRun>& runs,
                                                 const History& history);

} // namespace rankscope
