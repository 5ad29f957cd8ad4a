// The pass of analyze over the traces: each parsed once, a report per rank, a collective report and
// a merged trace per configuration, and what the sweep's tables need.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_facts.h"
#include "analyses/gemm/gemm_facts.h"
#include "app/analyze_state.h"
#include "base/result.h"
#include "core/output_layout.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

struct AnalyzeRun {
  OutputLayout layout{""};
  std::string merged_folder; ///< empty: no merged traces
  bool individual = true;    ///< write a workbook for each rank
  bool force = false;        ///< also where an earlier run has written it
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
  /// Clocks of the collective reports (none: by collectives) and of the merged traces (none: the
  /// time bases; by collectives they are read once more).
  std::optional<AlignMode> align = {};
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
  /// Returns the options that the outputs depend on, at the time of the call; files that they name
  /// count by content.
  std::function<std::string()> options;
  bool write = true; ///< false: return results, write no files
};

/// Returns one result per plan, in their order. A broken rank affects no other: the diagnostics and
/// its record name it. The state of a configuration is saved when it is finished, under the
/// fingerprint taken before its traces were read. If an input changed meanwhile, the diagnostics
/// name it and the next run redoes the configuration. Errors: kOutput.
Result<std::vector<ConfigResult>> run_configurations(Session& ctx, const AnalyzeRun& run,
                                                     const std::vector<const RunPlan*>& plans);

} // namespace rankscope
