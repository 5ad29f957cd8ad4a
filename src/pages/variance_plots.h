// The five plots of GEMM variance (sweep-and-compare.md 5), from the variance table.
#pragma once

#include "base/result.h"
#include "core/table.h"
#include "writers/plot.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// variance_by_{threads,channels,ranks}_boxplot, variance_violin_combined and
/// variance_thread_channel_interaction by name; those without data are left out. Columns read:
/// threads, channel, rank, time_diff_us. `y_range` makes plots of several sweeps comparable.
[[nodiscard]] std::vector<std::pair<std::string, PlotSpec>>
variance_plots(const Table& variance, const std::optional<std::pair<double, double>>& y_range);

/// From 0 (or the lowest value) to a little above the highest time_diff_us of all the tables.
[[nodiscard]] std::pair<double, double> variance_range(const std::vector<const Table*>& tables);

/// Writes the plots to `folder` as .png and, with `svg`, as .svg too. Errors: kMissingTool,
/// kOutput.
Result<void> write_variance_plots(const Table& variance, const std::string& folder, bool svg);

} // namespace rankscope
