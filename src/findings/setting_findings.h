// Which setting of a sweep is best.
#pragma once

#include "analyses/sweep/race.h"
#include "analyses/sweep/setting_verdict.h"
#include "core/finding.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// What is compared over the runs of settings.
struct SettingMetric {
  std::string unit; ///< behind values: "ms per step", "ms per trace"; "" for a metric of the user's
  bool higher_is_better = false;
  bool is_energy = false; ///< unit "J per step" or "J per run"
};

/// The best settings, each worse one, settings that cannot be tested (all of these with two
/// settings that have runs), runs far from the others of their setting.
[[nodiscard]] std::vector<Finding> setting_findings(const std::vector<RepeatedSetting>& settings,
                                                    const SettingMetric& metric);

/// What a search recommends in place of the default, or that it recommends nothing. With
/// `higher_is_better` the race was given the negative values of the metric.
[[nodiscard]] Finding search_finding(const Race& race, const std::vector<std::string>& labels,
                                     std::size_t default_setting, const SettingMetric& metric);

/// Settings that the library did not use, which are left out of the comparison.
[[nodiscard]] Finding unused_settings(const std::vector<std::string>& labels);

} // namespace rankscope
