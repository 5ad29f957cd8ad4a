// Use case of `rankscope split`: a server's trace cut into traces of some of its steps.
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
  std::string pair;   ///< another trace: pieces of the steps of both that do like work; "" = none
  PieceChoice choice;

  /// Whether any piece is asked for.
  [[nodiscard]] bool any() const {
    return choice.single || choice.steady || choice.phases || !pair.empty() ||
           (!choice.iterations.empty() && choice.iterations != "all");
  }
};

struct SplitResult {
  std::vector<PieceFact> pieces;
  std::vector<PairedSteps> pairs;
  std::size_t steps = 0;            ///< of the trace
  std::vector<std::string> written; ///< tables; the pieces have their own paths
};

/// Writes the pieces, execution_details.json and execution_details.csv into the folder, with `pair`
/// also paired_steps.csv. Writes nothing if there are no pieces. Errors: those of load_trace();
/// kUsage for a trace that is not a Kineto file, has no steps, or has no such steps; kUnreadable
/// for a damaged one; kOutput.
Result<SplitResult> split_trace(Session& session, const SplitRequest& request);

} // namespace rankscope
