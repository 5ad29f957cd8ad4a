// The plots and the HTML page of a comparison of runs.
#pragma once

#include "analyses/compare/compare_runs.h"
#include "base/result.h"
#include "core/finding.h"

#include <span>
#include <string>

namespace rankscope {

/// Writes FOLDER/plots/*.png (and .svg) and FOLDER/performance_analysis_report.html. Errors:
/// kMissingTool without gnuplot (nothing is written then), kOutput.
Result<void> write_compare_page(const Comparison& comparison, std::span<const Finding> findings,
                                const std::string& folder, bool svg);

} // namespace rankscope
