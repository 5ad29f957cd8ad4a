// The pass of analyze over the traces: each parsed once, a report per rank, a collective report and
// a merged trace per configuration, and what the sweep's tables need.
#pragma once

#include "analyses/analysis.h"
#include "analyses/gemm/gemm_data.h"
#include "app/analyze_state.h"
#include "base/result.h"
#include "core/output_layout.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <string>
#include <vector>

namespace rankscope {

struct AnalyzeRun {
  OutputLayout layout{""};
  std::string merged_folder; ///< empty: no merged traces
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
  std::string options;            ///< what the outputs depend on beside their inputs
};

/// One result per plan, in their order. A broken rank costs itself: it is named in the diagnostics
/// and in its record. The state of a configuration without losses is saved when it is finished.
/// Errors: kOutput.
Result<std::vector<ConfigResult>> run_configurations(Session& ctx, const AnalyzeRun& run,
                                                     const std::vector<const RunPlan*>& plans);

} // namespace rankscope
