// Use case: saved baselines over time as a history with its change points.
#pragma once

#include "analyses/compare/history.h"
#include "app/write_outputs.h"
#include "core/finding.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct HistoryRequest {
  std::vector<std::string> inputs; ///< saved baselines in the order of time; folders of them
  ReportOutputs outputs;           ///< a file that ends in .html or .htm is the interactive page
  std::string command;             ///< as that page shows it
};

struct HistoryResult {
  History history;
  Report report;
  std::vector<Finding> notes; ///< what to know before any value
  std::vector<Finding> findings;
  std::vector<std::string> written;
};

/// Replaces each folder by its .rsb files, sorted by name with numbers by value: build-9 precedes
/// build-10. Other inputs stay as they are. Errors: kUnreadable for a folder without such files.
Result<std::vector<std::string>> baseline_files(const std::vector<std::string>& inputs);

/// Errors: kUsage for fewer than two, kUnreadable, those of write_outputs(), kMissingTool for
/// a page in a build without ECharts.
Result<HistoryResult> baseline_history(Session& session, const HistoryRequest& request);

} // namespace rankscope
