// GPU timelines of two runs, rank by rank and as means over ranks (sweep-and-compare.md 13, 15).
#pragma once

#include "core/table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A run's gpu_timeline tables by rank (columns type, time ms, percent).
struct RunTimelines {
  std::string label;
  std::map<std::int64_t, Table> ranks;
};

/// (base - test) / base * 100: positive when the test is faster. No value when base is 0.
[[nodiscard]] std::optional<double> improvement_percent(double base, double test);

/// "Better", "Worse" or "Similar" by a threshold in percent; "New" when base is 0 and test is not.
[[nodiscard]] std::string judge(double base, double test, double threshold_percent);

/// Mean time in ms of one timeline row over a run's ranks; ranks without the row do not count.
[[nodiscard]] std::optional<double> mean_time_ms(const RunTimelines& run, const std::string& type);

/// Tables: Summary_Comparison, Comparison_By_Rank. Rows of one run only are listed, with that said
/// in `status`.
[[nodiscard]] std::vector<Table>
compare_timelines(const RunTimelines& base, const RunTimelines& test, double threshold_percent);

} // namespace rankscope
