// Runs from an earlier sweep in the same folder that the present sweep does not plan.
#pragma once

#include "collect/sweep_summary.h"

#include <deque>
#include <string>
#include <vector>

namespace rankscope {

struct EarlierRows {
  std::deque<PlannedRun> runs;
  std::deque<SweepSetting> settings;
  std::vector<SummaryRow> rows; ///< from the folder's manifest; point into the lists above
};

/// Returns the runs in FOLDER/manifest.json whose folder still exists and is not in `planned`.
/// Returns no runs if the folder has no manifest of a sweep.
[[nodiscard]] EarlierRows earlier_rows(const std::string& folder,
                                       const std::vector<PlannedRun>& planned);

} // namespace rankscope
