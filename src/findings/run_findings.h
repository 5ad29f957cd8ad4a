// Findings about the time of one configuration; `top` and `analyze` use them.
#pragma once

#include "analyses/collectives/exposed_waits.h"
#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/slowdown.h"
#include "analyses/sweep/sweep_facts.h"
#include "core/finding.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A run, or one of several configurations.
struct ShownRun {
  const ConfigurationRanks* ranks = nullptr;
  std::string label; ///< label of the configuration; empty if there is only one
  std::string name;  ///< name of the run in sentences
};

/// The minimum part of the time, in percent, for a finding.
inline constexpr double kWorthAFinding = 5;

/// Returns a finding about exposed communication; empty below kWorthAFinding. `waits`:
/// result of exposed_waits() for the run; empty without collectives.
[[nodiscard]] std::optional<Finding> exposed_finding(const ShownRun& run,
                                                     const std::optional<ExposedWaits>& waits);
/// Returns the cause of most of the idle time.
[[nodiscard]] IdleCause main_idle_cause(const ConfigurationRanks& ranks);
/// Returns a finding about idle time; empty below kWorthAFinding, or if the cause is unknown.
[[nodiscard]] std::optional<Finding> idle_finding(const ShownRun& run);

/// Returns the percentage by which collectives slow GEMMs; empty if it is not significant.
/// `contention`: result of contention_of(). `comparisons`: for the level of the interval.
[[nodiscard]] std::optional<MeanDifference>
contention_percent(const std::optional<Estimate>& contention, std::size_t comparisons);

/// Returns a finding about contention; empty if the effect is not significant. `contention`: result
/// of contention_of(run). `comparisons`: number of comparisons, for the level of the interval.
/// `where`: text after the evidence.
[[nodiscard]] std::optional<Finding> contention_finding(const ShownRun& run,
                                                        const std::optional<Estimate>& contention,
                                                        std::size_t comparisons,
                                                        const std::string& where);

/// Returns findings about the GEMMs with the largest spread, at most `most`; there is one finding
/// for each operator and shape. The level of their intervals takes all rows of the facts into
/// account, because the findings are selected from them.
[[nodiscard]] std::vector<Finding> gemm_findings(const GemmFacts& facts, std::size_t most);

} // namespace rankscope
