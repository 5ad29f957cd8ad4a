// Which setting is best when each ran several times, or in a race.
#pragma once

#include "analyses/sweep/race.h"
#include "analyses/sweep/sweep_facts.h"
#include "collect/sweep_settings.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A setting and a metric of each of its runs.
struct RepeatedSetting {
  std::string label;
  std::map<std::int64_t, double> runs; ///< by repeat
};

/// The setting whose folder the configuration was found in, as itself or as a repeat.
[[nodiscard]] std::optional<std::size_t> setting_of(const Configuration& configuration,
                                                    const std::vector<SweepSetting>& settings);

struct RepeatedFigures {
  std::vector<RepeatedSetting> settings; ///< in their order
  const char* unit = " ms a step";       ///< or " ms a trace"
};
/// The figure is the mean of a run's steps (mean over ranks), milliseconds; where a run has no
/// steps, of all of them the time of their traces.
[[nodiscard]] RepeatedFigures repeated_settings(const std::vector<RankRecord>& records,
                                                const std::vector<SweepSetting>& settings);

/// Sentences: the best setting and by how much each other one takes longer, or those that cannot be
/// told from it. One sample is one run, so that what differs from run to run counts; Welch at a
/// level corrected for all pairs, because the best is chosen by the same data. Settings of one run
/// are named and not compared. `unit` is put behind values (" ms a step"); "" for a metric of the
/// user's, which need not be a time.
[[nodiscard]] std::vector<std::string> verdict(const std::vector<RepeatedSetting>& settings,
                                               const std::string& unit, bool higher_is_better);

/// What a race over the settings came to: what is recommended instead of the default, by how much
/// with its interval, or that nothing is told to be better. `higher_is_better`: the race was given
/// the negative values of a metric.
[[nodiscard]] std::vector<std::string>
race_verdict(const Race& race, const std::vector<std::string>& labels, std::size_t default_setting,
             const std::string& unit, bool higher_is_better = false);

} // namespace rankscope
