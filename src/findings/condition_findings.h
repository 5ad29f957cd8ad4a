// Judges conditions on the metrics of a comparison ("total_time>2%").
#pragma once

#include "analyses/compare/compare_runs.h"
#include "core/finding.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace rankscope {

enum class ConditionState : std::uint8_t { kPassed, kRegression, kUnjudged };

struct JudgedCondition {
  ConditionState state = ConditionState::kPassed;
  Finding finding; ///< the evidence contains the values, or why there is no verdict
};

/// Judges a condition. A regression is a change that is significantly worse by more than `percent`.
/// `row`: the row of the metric, or null if the dashboard does not contain it. `condition`: as the
/// user wrote it. `label`: label of the test run. `why_not`: why nothing can be judged, or "".
[[nodiscard]] JudgedCondition judge_condition(const std::string& condition, double percent,
                                              const DashboardRow* row, std::size_t test,
                                              const std::string& label, const std::string& why_not);

} // namespace rankscope
