// Runs that an earlier sweep made in the same folder and that the present one does not plan.
#pragma once

#include "collect/sweep_summary.h"

#include <deque>
#include <string>
#include <vector>

namespace rankscope {

struct EarlierRows {
  std::deque<PlannedRun> runs;
  std::deque<SweepSetting> settings;
  std::vector<SummaryRow> rows; ///< as in the manifest of the folder; point into the two above
};

/// Of the runs that FOLDER/manifest.json lists, those whose folder is still there and is not one of
/// `planned`. None where there is no manifest of a sweep.
[[nodiscard]] EarlierRows earlier_rows(const std::string& folder,
                                       const std::vector<PlannedRun>& planned);

} // namespace rankscope
