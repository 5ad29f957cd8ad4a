// Which setting of a sweep is best when each ran several times. One sample is one run, so that
// differences between runs count.
#pragma once

#include "base/statistics.h"

#include <cstddef>
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

struct RankedSetting {
  std::string label;
  double mean = 0; ///< of its runs
  std::size_t runs = 0;
  MeanDifference worse; ///< than the best setting; more than 0 is worse
  [[nodiscard]] bool significant() const { return worse.difference - worse.half_width > 0; }
};

struct SettingVerdict {
  RankedSetting best;
  std::vector<RankedSetting> others; ///< with two runs at least; best first
  std::vector<RankedSetting> once;   ///< with a single run, which is not compared
  std::size_t comparisons = 0;       ///< that the level of the intervals is corrected for
  /// The two runs of each setting are exactly equal, so that their scatter is unknown: `others` is
  /// empty and `once` has all settings.
  bool equal_runs = false;
};
/// Welch's intervals at a level corrected for all pairs, because the best one is chosen by the same
/// data. Equal runs are not certainty: no variance is below that of rounding to decimal_step() of
/// the values, and settings with fewer than four runs scatter at least as all of them do. With
/// fewer than two settings that have two runs `best` is the first of all, and `others` is empty.
/// None with fewer than two settings that have runs.
[[nodiscard]] std::optional<SettingVerdict>
setting_verdict(const std::vector<RepeatedSetting>& settings, bool higher_is_better);

/// A run far from the others of its setting.
struct OutlierRun {
  std::string label;
  std::int64_t repeat = 0;
  double value = 0, median = 0;
};
/// Of settings with four runs at least: further from the median than ten (robust) standard
/// deviations and than a tenth of the median.
[[nodiscard]] std::vector<OutlierRun> outlier_runs(const std::vector<RepeatedSetting>& settings);

} // namespace rankscope
