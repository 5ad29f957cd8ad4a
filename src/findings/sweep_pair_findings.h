// Comparison of two sweeps: their common configurations, and the range of each sweep.
#pragma once

#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A value of both sweeps in one row, for a rank or a collective.
struct SweepPairRow {
  double base = 0, test = 0; ///< NaN: the sweep lacks the value
};

/// The names of two sweeps and the number of comparisons in their output.
struct SweepPair {
  std::string base, test;
  std::size_t comparisons = 1;
};

/// Returns the difference of one kind of time per step; empty without common configurations.
[[nodiscard]] std::vector<Finding> sweep_time_findings(const SweepPair& pair, TimeKind kind,
                                                       const SweepDifference& difference);

/// Returns the mean difference in percent over rows that both sweeps have. `row`: "rank",
/// "collective". Ranks and collectives of one run share its steps and its late rank. They are not
/// independent samples, so there is no interval.
[[nodiscard]] std::vector<Finding> sweep_row_findings(const SweepPair& pair,
                                                      const std::string& metric, const char* row,
                                                      const std::vector<SweepPairRow>& rows);

/// Returns the shortest and the longest mean of one kind of time over the configurations of a
/// sweep. Empty where no configuration has this time. This is not a claim: `sweep_findings` test
/// which configurations differ.
[[nodiscard]] std::vector<Finding>
time_range_findings(const std::string& sweep, TimeKind kind,
                    std::span<const ConfigurationRow> configurations);

} // namespace rankscope
