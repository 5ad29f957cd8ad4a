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

/// One operator with its arguments on one rank.
struct VariancePoint {
  std::optional<std::int64_t> threads, channel, rank;
  double range_us = 0; ///< longest - shortest call
};

struct VarianceData {
  std::string top; ///< "5": rows of each rank, named in the titles; empty = unknown
  std::vector<VariancePoint> points;
};
[[nodiscard]] VarianceData variance_data(const GemmFacts& facts, std::size_t top_k);

/// Returns variance_by_{threads,channels,ranks}_boxplot, variance_violin_combined and
/// variance_thread_channel_interaction by name; leaves out those without data. `y_range` makes
/// plots of several sweeps comparable.
[[nodiscard]] std::vector<std::pair<std::string, PlotSpec>>
variance_plots(const VarianceData& data, const std::optional<std::pair<double, double>>& y_range);

/// Returns an axis from 0 (or the lowest value) to a little above the highest range of all.
[[nodiscard]] std::pair<double, double> variance_range(const std::vector<VarianceData>& all);

/// Starts to draw the plots into `folder`, as .png and, with `svg`, as .svg too: on the pool, or at
/// once without a pool. Errors: kOutput.
Result<Drawing> begin_variance_plots(const VarianceData& data, const std::string& folder, bool svg,
                                     TaskPool* pool);
/// Does the same and waits.
Result<void> write_variance_plots(const VarianceData& data, const std::string& folder, bool svg);

} // namespace rankscope
