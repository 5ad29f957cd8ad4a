// Findings on the best setting of a sweep.
#pragma once

#include "analyses/sweep/race.h"
#include "analyses/sweep/setting_verdict.h"
#include "core/finding.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// The metric that is compared over the runs of settings.
struct SettingMetric {
  std::string unit; ///< follows values: "ms per step", "ms per trace"; "" for a user-defined metric
  bool higher_is_better = false;
  bool is_energy = false; ///< the unit is "J per step" or "J per run"
};

/// Returns findings on the best settings, on each worse setting, on settings that cannot be tested,
/// and on runs far from the others of their setting. The first three kinds need two settings with
/// runs.
[[nodiscard]] std::vector<Finding> setting_findings(const std::vector<RepeatedSetting>& settings,
                                                    const SettingMetric& metric);

/// Returns the setting that a search recommends in place of the default, or that it recommends no
/// setting. With `higher_is_better`, the race was given the negative values of the metric.
[[nodiscard]] Finding search_finding(const Race& race, const std::vector<std::string>& labels,
                                     std::size_t default_setting, const SettingMetric& metric);

/// Reports settings that the library did not use, which are left out of the comparison.
[[nodiscard]] Finding unused_settings(const std::vector<std::string>& labels);

} // namespace rankscope
