// The data of a history page: each metric as a series with its levels and level changes.
#pragma once

#include "analyses/compare/history.h"
#include "core/finding.h"

#include <string>
#include <vector>

namespace rankscope {

struct HistoryPageInput {
  const History* history = nullptr;
  std::string title, command;
  std::vector<Finding> notes, findings; ///< notes: must be read before any value
  std::vector<std::string> files;       ///< files of the runs
};

/// Returns the data as a blob (pages/data/page_blob.h).
[[nodiscard]] std::string history_page_data(const HistoryPageInput& input);

} // namespace rankscope
