// Use case of `rankscope replay`, and of the node replay of a batch: recorded products and
// convolutions run again, their command files, their sheets.
#pragma once

#include "analyses/replay/replay_items.h"
#include "base/result.h"
#include "collect/replay/replay_run.h"
#include "engine/session.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// Writes FOLDER/hipblaslt-bench-<number>.log or miopen-driver-<number>.log for each row that has
/// commands, one on a line, and notes its name in the row; returns the paths. The folder is made.
/// Errors: kOutput.
Result<std::vector<std::string>> write_command_files(std::vector<ReplayRow>& rows,
                                                     const std::string& folder);

/// Runs the rows again and fills in their times; each row is noted as it is done. What failed, and
/// what is missing, is counted in the session's diagnostics; where no row was measured, although a
/// runner was asked for, the session is partial.
void run_replay(Session& session, std::vector<ReplayRow>& rows, const ReplayRunOptions& options);

struct NodeReplayRequest {
  std::string trace;
  std::string output;   ///< folder; "" = TRACE without its endings and _replay
  std::size_t top = 10; ///< groups of calls with the most kernel time, 0 = all
  ReplayRunOptions run;
};

struct NodeReplay {
  std::vector<ReplayRow> rows; ///< most kernel time first
  std::string folder;
  std::vector<std::string> written;
  std::size_t measured = 0;   ///< rows with a time
  bool asked_missing = false; ///< the runner that was asked for is not here
};

/// Command files, node_replay.xlsx, gemm_node_replay.csv and conv_node_replay.csv of one trace.
/// Errors: those of load_trace(); kUnreadable when the trace has no product and no convolution;
/// kOutput.
Result<NodeReplay> replay_trace(Session& session, const NodeReplayRequest& request);

/// Returns for each row its operator, profiled time, measured time (the bench's, else PyTorch's),
/// their ratio, and its share.
[[nodiscard]] Table replay_overview(const std::vector<ReplayRow>& rows);

} // namespace rankscope
