// Use case of `rankscope split`: cuts a server's trace into smaller traces of some steps.
#pragma once

#include "analyses/inference/step_pairs.h"
#include "analyses/inference/trace_pieces.h"
#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

struct SplitRequest {
  std::string trace;  ///< a Kineto JSON trace, .json, .gz or .zst; not standard input
  std::string output; ///< folder
  std::string pair;   ///< another trace; cuts steps with similar work from both; "" = none
  PieceChoice choice;

  /// Returns whether any piece is requested.
  [[nodiscard]] bool any() const {
    return choice.single || choice.steady || choice.phases || !pair.empty() ||
           (!choice.iterations.empty() && choice.iterations != "all");
  }
};

struct SplitResult {
  std::vector<PieceFact> pieces;
  std::vector<PairedSteps> pairs;
  std::size_t steps = 0;            ///< steps of the trace
  std::vector<std::string> written; ///< written tables; each piece has its path in `pieces`
};

/// Writes the pieces, execution_details.json and execution_details.csv into the folder, and
/// paired_steps.csv if `pair` is set. Writes nothing if there are no pieces. Errors: those of
/// load_trace(); kUsage for a trace that is not a Kineto file, has no steps, or lacks the chosen
/// steps; kUnreadable for a damaged trace; kOutput.
Result<SplitResult> split_trace(Session& session, const SplitRequest& request);

} // namespace rankscope
