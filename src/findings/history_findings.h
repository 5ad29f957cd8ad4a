// Findings about changes of metrics over many runs.
#pragma once

#include "analyses/compare/compared_run.h"
#include "analyses/compare/history.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns one finding for each change of a level. If there is no change, returns one finding that
/// says so, or that there are too few runs.
[[nodiscard]] std::vector<Finding> history_findings(const History& history);

/// Returns notes that must be read before the values: runs that do other work than the first run,
/// and runs without metrics.
[[nodiscard]] std::vector<Finding> history_notes(const std::vector<ComparedRun>& runs,
                                                 const History& history);

} // namespace rankscope
