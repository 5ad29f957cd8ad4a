// Plots of a comparison of runs (docs/reference/compare-rules.md 3).
#pragma once

#include "analyses/compare/compare_runs.h"
#include "writers/plot.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Returns the documented plots by file name without extension. Plots without data are left out.
[[nodiscard]] std::vector<std::pair<std::string, PlotSpec>>
compare_plots(const Comparison& comparison);

} // namespace rankscope
