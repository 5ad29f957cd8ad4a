// Tests for differences between the configurations and ranks of a sweep: the basis of its findings.
#pragma once

#include "analyses/sweep/slowdown.h"
#include "analyses/sweep/sweep_compare.h"
#include "analyses/sweep/sweep_facts.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace rankscope {

/// The test results behind the findings. The records must outlive it.
struct SweepJudgement {
  std::vector<ConfigurationRanks> groups;
  /// Two configurations whose steps do different work, if any. In that case nothing is ranked.
  std::optional<std::pair<const ConfigurationRanks*, const ConfigurationRanks*>> unequal;
  std::optional<StepRanking> total, comm; ///< rankings by total time and by exposed communication
  SlowRanks slow;
  /// Causes for configurations that compute longer than the configuration with the shortest steps,
  /// largest difference first.
  std::vector<Cause> causes;
  /// contention_of() for each configuration. Their intervals have the level cause_alpha.
  std::vector<std::optional<Estimate>> contention;
  double cause_alpha = 0.05;
  std::size_t cause_comparisons = 0; ///< number of comparisons that cause_alpha is corrected for
};
[[nodiscard]] SweepJudgement judge(const std::vector<RankRecord>& records);

} // namespace rankscope
