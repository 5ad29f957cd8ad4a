// Finds the best setting of a sweep in which settings ran several times. One sample is one run, so
// that differences between runs count.
#pragma once

#include "base/statistics.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A setting with a metric of each of its runs.
struct RepeatedSetting {
  std::string label;
  std::map<std::int64_t, double> runs; ///< by repeat
};

struct RankedSetting {
  std::string label;
  double mean = 0; ///< mean of its runs
  std::size_t runs = 0;
  MeanDifference worse; ///< difference to the best setting; more than 0 is worse
  [[nodiscard]] bool significant() const { return worse.difference - worse.half_width > 0; }
};

struct SettingVerdict {
  RankedSetting best;
  std::vector<RankedSetting> others; ///< the other settings with at least two runs; best first
  std::vector<RankedSetting> once;   ///< settings with a single run, which are not compared
  std::size_t comparisons = 0; ///< number of comparisons that the interval level is corrected for
  /// True if the two runs of each setting are exactly equal, so that the variance is unknown. In
  /// this case, `others` is empty, and `once` contains all settings.
  bool equal_runs = false;
};
/// Ranks the settings by Welch's intervals at a level corrected for all pairs, because the same
/// data select the best setting. Equal runs do not mean certainty: each variance is at least that
/// of rounding to decimal_step() of the values. Settings with fewer than four runs get at least the
/// pooled variance of all settings. If fewer than two settings have two runs, `best` is the setting
/// with the best mean, and `others` is empty. nullopt if fewer than two settings have runs.
[[nodiscard]] std::optional<SettingVerdict>
setting_verdict(const std::vector<RepeatedSetting>& settings, bool higher_is_better);

/// A run far from the other runs of its setting.
struct OutlierRun {
  std::string label;
  std::int64_t repeat = 0;
  double value = 0, median = 0;
};
/// Returns runs of settings with at least four runs that are further from the median than ten
/// (robust) standard deviations and than a tenth of the median.
[[nodiscard]] std::vector<OutlierRun> outlier_runs(const std::vector<RepeatedSetting>& settings);

} // namespace rankscope
