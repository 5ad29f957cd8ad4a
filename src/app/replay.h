// Use case of `rankscope replay` and of node replay in a batch: runs recorded matrix products and
// convolutions again, and writes their command files and sheets.
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
/// commands, one command per line. Stores the file name in the row; returns the paths. Creates the
/// folder. Errors: kOutput.
Result<std::vector<std::string>> write_command_files(std::vector<ReplayRow>& rows,
                                                     const std::string& folder);

/// Runs the rows again, fills in their times, and prints a note when each row is done. The
/// session's diagnostics count failed rows and missing runners. If no row was measured although a
/// runner was requested, the session is partial.
void run_replay(Session& session, std::vector<ReplayRow>& rows, const ReplayRunOptions& options);

struct NodeReplayRequest {
  std::string trace;
  std::string output;   ///< folder; "" = TRACE without its endings, plus _replay
  std::size_t top = 10; ///< groups of calls with the most kernel time, 0 = all
  ReplayRunOptions run;
};

struct NodeReplay {
  std::vector<ReplayRow> rows; ///< most kernel time first
  std::string folder;
  std::vector<std::string> written;
  std::size_t measured = 0;   ///< rows with a time
  bool asked_missing = false; ///< the requested runner is not available
};

/// Writes the command files, node_replay.xlsx, gemm_node_replay.csv and conv_node_replay.csv of one
/// trace. Errors: those of load_trace(); kUnreadable if the trace has no product and no
/// convolution; kOutput.
Result<NodeReplay> replay_trace(Session& session, const NodeReplayRequest& request);

/// Returns for each row the operator, profiled time, measured time (from the bench, else from
/// PyTorch), their ratio, and the row's share of the GPU busy time.
[[nodiscard]] Table replay_overview(const std::vector<ReplayRow>& rows);

} // namespace rankscope
