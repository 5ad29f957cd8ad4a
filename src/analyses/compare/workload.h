// Checks whether two runs do the same work: compares the operators that both have, and their shapes
// and launches.
#pragma once

#include "analyses/compare/step_work.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace rankscope {

/// Nanoseconds of GPU time by operator, over all ranks.
using OperatorTimes = std::map<std::string, double>;

struct WorkloadOverlap {
  std::size_t common = 0, all = 0; ///< numbers of operator names
  double base_percent = 0;         ///< percentage of the run's time in common operators
  double test_percent = 0;

  /// Returns whether the common operators take less than half of the time of a run, or are fewer
  /// than 30 % of the names.
  [[nodiscard]] bool differs() const;
};

/// Returns the overlap; empty if a run has no operators with time (nothing is known then).
[[nodiscard]] std::optional<WorkloadOverlap> workload_overlap(const OperatorTimes& base,
                                                              const OperatorTimes& test);

/// Operators of both runs whose kernels do different work: their shapes differ, or their numbers of
/// launches per step differ by more than 5 %.
struct WorkDifference {
  double base_percent = 0, test_percent = 0; ///< percentage of the own time of the run's kernels
  std::string op;                            ///< operator with the most time
  std::string base_work, test_work;          ///< "4096x4096 4096x14336, 12 launches"; of `op`

  /// Returns whether this work takes more than 10 % of the own time of a run's kernels.
  [[nodiscard]] bool differs() const;
};
[[nodiscard]] WorkDifference work_difference(const StepWork& base, const StepWork& test);

} // namespace rankscope
