// The values of settings that ran several times, from the records of their traces.
#pragma once

#include "analyses/sweep/setting_verdict.h"
#include "analyses/sweep/sweep_facts.h"
#include "collect/sweep_settings.h"

#include <optional>
#include <vector>

namespace rankscope {

/// Returns the index of the setting in whose folder the configuration was found, as the setting's
/// run or as a repeat.
[[nodiscard]] std::optional<std::size_t> setting_of(const Configuration& configuration,
                                                    const std::vector<SweepSetting>& settings);

struct RepeatedMetrics {
  std::vector<RepeatedSetting> settings; ///< in the order of the settings
  const char* unit = "ms per step";      ///< or "ms per trace"
  bool same_work = true;                 ///< all runs have the same work per step (work_differs())
};
/// Returns the mean step time of each run in milliseconds (mean over ranks). If any run has no
/// steps, returns the trace times of all runs instead.
[[nodiscard]] RepeatedMetrics repeated_settings(const std::vector<RankRecord>& records,
                                                const std::vector<SweepSetting>& settings);

} // namespace rankscope
