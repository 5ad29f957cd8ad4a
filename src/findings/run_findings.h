// The time of one configuration: the findings that top and analyze share.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/slowdown.h"
#include "analyses/sweep/sweep_facts.h"
#include "core/finding.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A run, or one configuration of several.
struct ShownRun {
  const ConfigurationRanks* ranks = nullptr;
  std::string label; ///< of the configuration; empty: the only one
  std::string name;  ///< in sentences
};

/// Share of the time from which it is worth a finding, percent.
inline constexpr double kWorthAFinding = 5;

/// `waiting`: waiting_share(). None below kWorthAFinding.
[[nodiscard]] std::optional<Finding> exposed_finding(const ShownRun& run,
                                                     std::optional<double> waiting);
/// None below kWorthAFinding, or where no cause is known.
[[nodiscard]] std::optional<Finding> idle_finding(const ShownRun& run);

/// `contention`: contention_of(run); `comparisons`: for the level of its interval. `where`: follows
/// the evidence. None where it is not significant.
[[nodiscard]] std::optional<Finding> contention_finding(const ShownRun& run,
                                                        const std::optional<Estimate>& contention,
                                                        std::size_t comparisons,
                                                        const std::string& where);

/// The GEMMs with the largest spread, at most `most`, an operator with its shape once. The level of
/// their intervals is for all rows of the facts, from which they were chosen.
[[nodiscard]] std::vector<Finding> gemm_findings(const GemmFacts& facts, std::size_t most);

} // namespace rankscope
