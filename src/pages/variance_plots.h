// The five plots of GEMM variance (docs/reference/sweep-files.md 2).
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "base/result.h"
#include "writers/plot.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// One operator with its arguments on one rank, and the range of its calls.
struct VariancePoint {
  std::optional<std::int64_t> threads, channel, rank;
  double range_us = 0; ///< longest minus shortest call
};

struct VarianceData {
  std::string top; ///< "5": number of rows per rank, shown in the titles; empty = unknown
  std::vector<VariancePoint> points;
};
[[nodiscard]] VarianceData variance_data(const GemmFacts& facts, std::size_t top_k);

/// Returns variance_by_{threads,channels,ranks}_boxplot, variance_violin_combined and
/// variance_thread_channel_interaction by name. Plots without data are left out. A common `y_range`
/// makes plots of several sweeps comparable.
[[nodiscard]] std::vector<std::pair<std::string, PlotSpec>>
variance_plots(const VarianceData& data, const std::optional<std::pair<double, double>>& y_range);

/// Returns an axis range from 0 (or the lowest value) to slightly above the highest range in `all`.
[[nodiscard]] std::pair<double, double> variance_range(const std::vector<VarianceData>& all);

/// Starts to draw the plots into `folder` as .png and, if `svg`, also as .svg. The pool draws them;
/// without a pool they are drawn at once. Errors: kOutput.
Result<Drawing> begin_variance_plots(const VarianceData& data, const std::string& folder, bool svg,
                                     TaskPool* pool);
/// Draws the plots as above and waits until they are complete.
Result<void> write_variance_plots(const VarianceData& data, const std::string& folder, bool svg);

} // namespace rankscope
