// Findings on the time of one configuration, shared by top and analyze.
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
  std::string label; ///< label of the configuration; empty: there is only one
  std::string name;  ///< name in sentences
};

/// The least fraction of the time for a finding, percent.
inline constexpr double kWorthAFinding = 5;

/// Empty below kWorthAFinding. `waiting`: waiting_share().
[[nodiscard]] std::optional<Finding> exposed_finding(const ShownRun& run,
                                                     std::optional<double> waiting);
/// Empty below kWorthAFinding, or where the cause is unknown.
[[nodiscard]] std::optional<Finding> idle_finding(const ShownRun& run);

/// Empty where the effect is not significant. `contention`: contention_of(run). `comparisons`: for
/// the level of its interval. `where`: text after the evidence.
[[nodiscard]] std::optional<Finding> contention_finding(const ShownRun& run,
                                                        const std::optional<Estimate>& contention,
                                                        std::size_t comparisons,
                                                        const std::string& where);

/// Returns findings on the GEMMs with the largest spread, at most `most`, each operator with its
/// shape once. The level of their intervals is for all rows of the facts, from which they were
/// chosen.
[[nodiscard]] std::vector<Finding> gemm_findings(const GemmFacts& facts, std::size_t most);

} // namespace rankscope
