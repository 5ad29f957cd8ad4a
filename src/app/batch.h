// The batch report: a workbook for every folder of rank traces below a base folder.
#pragma once

#include "analyses/batch/batch_part.h"
#include "app/batch_folders.h"
#include "collect/replay/replay_run.h"
#include "engine/session.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct BatchRequest {
  BatchSearch search;
  BatchOptions options;
  bool replay = false; ///< add node replay (app/batch_replay.h)
  ReplayRunOptions replay_run = {};
  bool overwrite = false; ///< replace existing reports
};

/// The outcome for one folder.
struct BatchReport {
  std::string folder;
  std::string output;
  std::size_t ranks = 0; ///< ranks that could be read
  std::size_t sheets = 0;
  std::optional<Error> error;     ///< if set, nothing was written
  std::vector<std::string> notes; ///< facts that the sheets do not show
  std::vector<std::string> warnings;
};

/// Writes a report for each folder and returns the reports in folder order. Ranks are read once,
/// several at a time within a memory limit. If a folder fails, the others are still reported.
/// Errors: those of check_batch_replay(), kInternal.
Result<std::vector<BatchReport>> run_batch(Session& session, const BatchRequest& request,
                                           std::vector<BatchFolder> folders);

} // namespace rankscope
