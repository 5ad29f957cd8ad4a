// Compares two sweeps: their common configurations, and the range of the values of each sweep.
#pragma once

#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The values of both sweeps in one row, which is for a rank or a collective.
struct SweepPairRow {
  double base = 0, test = 0; ///< NaN: the sweep does not have the value
};

/// The names of two sweeps, and the number of comparisons in the output.
struct SweepPair {
  std::string base, test;
  std::size_t comparisons = 1;
};

/// Returns the difference in one kind of time per step; empty if there are no common
/// configurations.
[[nodiscard]] std::vector<Finding> sweep_time_findings(const SweepPair& pair, TimeKind kind,
                                                       const SweepDifference& difference);

/// Returns the mean difference in percent over the rows that both sweeps have. `row`: "rank" or
/// "collective". There is no interval, because the rows are not independent samples: all ranks and
/// collectives of a run are affected by the same steps and the same late rank.
[[nodiscard]] std::vector<Finding> sweep_row_findings(const SweepPair& pair,
                                                      const std::string& metric, const char* row,
                                                      const std::vector<SweepPairRow>& rows);

/// Returns the shortest and the longest mean of one kind of time over the configurations of a
/// sweep. Empty if no configuration has this time. This is not a test: sweep_findings() test which
/// configurations differ.
[[nodiscard]] std::vector<Finding>
time_range_findings(const std::string& sweep, TimeKind kind,
                    std::span<const ConfigurationRow> configurations);

} // namespace rankscope
