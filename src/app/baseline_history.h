// Use case: the history of saved baselines over time, with its change points.
#pragma once

#include "analyses/compare/history.h"
#include "app/write_outputs.h"
#include "core/finding.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct HistoryRequest {
  std::vector<std::string> inputs; ///< saved baselines in time order, or folders of baselines
  ReportOutputs outputs;           ///< a file that ends in .html or .htm is the interactive page
  std::string command;             ///< shown on the interactive page
};

struct HistoryResult {
  History history;
  Report report;
  std::vector<Finding> notes; ///< notes to read before any value
  std::vector<Finding> findings;
  std::vector<std::string> written;
};

/// Replaces each folder by its .rsb files. Names are sorted with numbers by value: build-9 precedes
/// build-10. Other inputs stay unchanged. Errors: kUnreadable for a folder without such files.
Result<std::vector<std::string>> baseline_files(const std::vector<std::string>& inputs);

/// Errors: kUsage for fewer than two baselines, kUnreadable, those of write_outputs(), kMissingTool
/// for a page in a build without ECharts.
Result<HistoryResult> baseline_history(Session& session, const HistoryRequest& request);

} // namespace rankscope
