// How the configurations and ranks of a sweep differ: the tests behind its findings.
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
  /// Two configurations whose steps do different work: nothing is ranked then.
  std::optional<std::pair<const ConfigurationRanks*, const ConfigurationRanks*>> unequal;
  std::optional<StepRanking> total, comm; ///< by total time, by exposed communication
  SlowRanks slow;
  /// Of configurations that compute longer than the one with the shortest steps, most first.
  std::vector<Cause> causes;
  /// contention_of() by configuration; intervals at the level cause_alpha.
  std::vector<std::optional<Estimate>> contention;
  double cause_alpha = 0.05;
  std::size_t cause_comparisons = 0; ///< that cause_alpha is corrected for
};
[[nodiscard]] SweepJudgement judge(const std::vector<RankRecord>& records);

} // namespace rankscope
