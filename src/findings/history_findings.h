// Findings on changes of metrics over many runs.
#pragma once

#include "analyses/compare/compared_run.h"
#include "analyses/compare/history.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

/// Returns one finding per change of a level. Without a change, one finding says that there is no
/// change or that there are too few runs.
[[nodiscard]] std::vector<Finding> history_findings(const History& history);

/// Returns notes to read before any value: runs with other work than the first, or without metrics.
[[nodiscard]] std::vector<Finding> history_notes(const std::vector<ComparedRun>& runs,
                                                 const History& history);

} // namespace rankscope
