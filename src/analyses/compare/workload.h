// Whether two runs do the same work: the operators that both have, and their shapes and launches.
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
  std::size_t common = 0, all = 0; ///< names of operators
  double base_percent = 0;         ///< of its time: the common operators
  double test_percent = 0;

  /// On a side less than half of the time, or of all names less than three of ten.
  [[nodiscard]] bool differs() const;
};

/// None when a side has no operators with time (nothing is known then).
[[nodiscard]] std::optional<WorkloadOverlap> workload_overlap(const OperatorTimes& base,
                                                              const OperatorTimes& test);

/// Operators of both runs whose kernels do other work: other shapes, or another number of launches
/// in a step (by more than 5 %).
struct WorkDifference {
  double base_percent = 0, test_percent = 0; ///< of the kernels' own time of each run
  std::string op;                            ///< with the most time
  std::string base_work, test_work;          ///< "4096x4096 4096x14336, 12 launches"; of `op`

  /// More than a tenth of the time on a side.
  [[nodiscard]] bool differs() const;
};
[[nodiscard]] WorkDifference work_difference(const StepWork& base, const StepWork& test);

} // namespace rankscope
