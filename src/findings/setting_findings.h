// Findings about the best setting of a sweep.
#pragma once

#include "analyses/sweep/race.h"
#include "analyses/sweep/setting_verdict.h"
#include "core/finding.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The metric by which settings are compared.
struct SettingMetric {
  std::string unit; ///< unit after values: "ms per step", "ms per trace"; "" for a user-defined
                    ///< metric
  bool higher_is_better = false;
  bool is_energy = false; ///< the unit is "J per step" or "J per run"
};

/// Returns findings about the best settings, each worse setting, settings that cannot be tested,
/// and runs whose value is far from those of the other runs of their setting. The first three kinds
/// require at least two settings with runs.
[[nodiscard]] std::vector<Finding> setting_findings(const std::vector<RepeatedSetting>& settings,
                                                    const SettingMetric& metric);

/// Returns the setting that a search recommends instead of the default, or the result that it
/// recommends no setting. With `higher_is_better`, the race was run with the negative values of the
/// metric.
[[nodiscard]] Finding search_finding(const Race& race, const std::vector<std::string>& labels,
                                     std::size_t default_setting, const SettingMetric& metric);

/// Returns the finding that configurations are not ranked, if the list has one.
[[nodiscard]] std::optional<Finding> not_ranked_finding(const std::vector<Finding>& findings);

/// Reports settings that the library did not use and that are therefore not compared.
[[nodiscard]] Finding unused_settings(const std::vector<std::string>& labels);

} // namespace rankscope
