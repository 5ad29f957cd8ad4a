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
  bool replay = false; ///< app/batch_replay.h
  ReplayRunOptions replay_run = {};
  bool overwrite = false; ///< replace existing reports
};

/// What became of a folder.
struct BatchReport {
  std::string folder;
  std::string output;
  std::size_t ranks = 0; ///< that could be read
  std::size_t sheets = 0;
  std::optional<Error> error;     ///< set: nothing was written
  std::vector<std::string> notes; ///< what the sheets do not say by themselves
  std::vector<std::string> warnings;
};

/// A report for each folder, in their order: ranks are read once, several at a time within a bound
/// of memory, and a folder that fails costs itself. Errors: those of check_batch_replay(),
/// kInternal.
Result<std::vector<BatchReport>> run_batch(Session& session, const BatchRequest& request,
                                           std::vector<BatchFolder> folders);

} // namespace rankscope
