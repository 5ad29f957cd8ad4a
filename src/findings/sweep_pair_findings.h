// Sweeps side by side: two by the configurations that both have, and what each ranges over.
#pragma once

#include "analyses/sweep/sweep_compare.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// A value of both sweeps in one row: a rank, or a collective.
struct SweepPairRow {
  double base = 0, test = 0; ///< NaN: it lacks it
};

/// The names of two sweeps and how many comparisons their output has.
struct SweepPair {
  std::string base, test;
  std::size_t comparisons = 1;
};

/// The difference of one kind of time per step; none without common configurations.
[[nodiscard]] std::vector<Finding> sweep_time_findings(const SweepPair& pair, TimeKind kind,
                                                       const SweepDifference& difference);

/// The mean difference in percent of rows that both sweeps have. Ranks and collectives of one run
/// share its steps and its late rank: they are not independent samples, so there is no interval.
/// `row`: "rank", "collective".
[[nodiscard]] std::vector<Finding> sweep_row_findings(const SweepPair& pair,
                                                      const std::string& metric, const char* row,
                                                      const std::vector<SweepPairRow>& rows);

/// The shortest and the longest mean of one kind of time over the configurations of a sweep; none
/// where no configuration has it. No claim: `sweep_findings` test which configurations differ.
[[nodiscard]] std::vector<Finding>
time_range_findings(const std::string& sweep, TimeKind kind,
                    std::span<const ConfigurationRow> configurations);

} // namespace rankscope
