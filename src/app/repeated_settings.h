// The values of settings that ran several times, from the records of their traces.
#pragma once

#include "analyses/sweep/setting_verdict.h"
#include "analyses/sweep/sweep_facts.h"
#include "collect/sweep_settings.h"

#include <optional>
#include <vector>

namespace rankscope {

/// The setting whose folder the configuration was found in, as itself or as a repeat.
[[nodiscard]] std::optional<std::size_t> setting_of(const Configuration& configuration,
                                                    const std::vector<SweepSetting>& settings);

struct RepeatedFigures {
  std::vector<RepeatedSetting> settings; ///< in their order
  const char* unit = "ms per step";      ///< or "ms per trace"
  bool same_work = true;                 ///< per step, of all runs (work_differs())
};
/// Returns per run the mean of its steps (mean over ranks) in milliseconds; if any run has no
/// steps, the trace times of all runs instead.
[[nodiscard]] RepeatedFigures repeated_settings(const std::vector<RankRecord>& records,
                                                const std::vector<SweepSetting>& settings);

} // namespace rankscope
