// The data of the page of a history: each figure as a series with its levels and where they change.
#pragma once

#include "analyses/compare/history.h"
#include "core/finding.h"

#include <string>
#include <vector>

namespace rankscope {

struct HistoryPageInput {
  const History* history = nullptr;
  std::string title, command;
  std::vector<Finding> notes, findings; ///< notes: what to know before any value
  std::vector<std::string> files;       ///< of the runs
};

/// The blob of pages/data/page_blob.h.
[[nodiscard]] std::string history_page_data(const HistoryPageInput& input);

} // namespace rankscope
