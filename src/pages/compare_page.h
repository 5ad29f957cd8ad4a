// The plots and the HTML page of a comparison of runs.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "base/result.h"
#include "core/finding.h"
#include "os/tasks.h"

#include <span>
#include <string>

namespace rankscope {

/// Writes FOLDER/plots/*.png (and .svg) and FOLDER/performance_analysis_report.html. Errors:
/// kMissingTool without Cairo (the page is complete, plots/*.png are missing), kOutput.
Result<void> write_compare_page(const Comparison& comparison, std::span<const Finding> findings,
                                const std::string& folder, bool svg, TaskPool& pool);

} // namespace rankscope
