// The pass of analyze over the traces. It parses each trace once and makes a report per rank, a
// collective report and a merged trace per configuration, and the facts for the sweep's tables.
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
  bool force = false;        ///< also rewrite workbooks of an earlier run
  ReportOptions report;
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
  /// Clock alignment of the collective reports (not set: by collectives) and of the merged traces
  /// (not set: time bases). With alignment by collectives, the merge reads the traces a second
  /// time.
  std::optional<AlignMode> align = {};
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
  /// Returns the options that the outputs depend on, at the time of the call. For a file that an
  /// option names, they include a mark of its content.
  std::function<std::string()> options;
  bool write = true; ///< false: return results, write no files
};

/// Returns one result per plan, in plan order. A broken rank does not affect other ranks: the
/// diagnostics and its record name it. The state of a configuration is saved when it is finished,
/// under the fingerprint taken before its traces were read. If an input changed meanwhile, the
/// diagnostics name it and the next run redoes the configuration. Errors: kOutput.
Result<std::vector<ConfigResult>> run_configurations(Session& ctx, const AnalyzeRun& run,
                                                     const std::vector<const RunPlan*>& plans);

} // namespace rankscope
