// Which setting is best when each ran several times.
#pragma once

#include "analyses/sweep/sweep_facts.h"

#include <string>
#include <vector>

namespace rankscope {

/// A setting and a figure of each of its runs, lower is better.
struct RepeatedSetting {
  std::string label;
  std::vector<double> runs;
};

/// Runs of one setting are the configurations that differ by the parameter `repeat` alone; the
/// figure is the mean of its steps (mean over ranks), milliseconds. In order of first appearance.
[[nodiscard]] std::vector<RepeatedSetting>
repeated_settings(const std::vector<RankRecord>& records);

/// Sentences: the best setting and by how much each other one takes longer, or those that cannot be
/// told from it. One sample is one run, so that what differs from run to run counts; Welch at a
/// level corrected for all pairs, because the best is chosen by the same data.
[[nodiscard]] std::vector<std::string> verdict(const std::vector<RepeatedSetting>& settings);
[[nodiscard]] std::vector<std::string> verdict_over_repeats(const std::vector<RankRecord>& records);

} // namespace rankscope
