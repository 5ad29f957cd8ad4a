// The data of the page of a history: each figure as a series with its levels and where they change.
#pragma once

#include "analyses/compare/history.h"

#include <string>
#include <vector>

namespace rankscope {

struct HistoryPageInput {
  const History* history = nullptr;
  std::string title, command;
  std::vector<std::string> remarks; ///< what has to be known before any figure
  std::vector<std::string> files;   ///< of the runs
};

/// The blob of pages/data/page_blob.h.
[[nodiscard]] std::string history_page_data(const HistoryPageInput& input);

} // namespace rankscope
