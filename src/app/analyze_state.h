// The state that analyze saves of a finished configuration. With it, a re-run redoes only changed
// configurations and makes the page of a sweep from facts. Only this file reads saved states.
#pragma once

#include "analyses/operators/ops_summary.h"
#include "analyses/sweep/sweep.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "core/output_layout.h"
#include "engine/rank_parts.h"
#include "readers/discovery.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// What the comparisons across threads need of a rank.
struct ComparedRank {
  std::vector<TimelineRow> timeline;
  std::vector<OpsSummaryRow> ops;
};

struct ConfigResult {
  Configuration configuration;
  std::vector<RankRecord> records; ///< ascending by rank
  GemmFacts gemms;                 ///< of its ranks, top k each
  std::map<std::int64_t, ComparedRank> compared;
  std::optional<std::vector<SyncSummary>> collectives; ///< none without collectives
  std::map<CollectiveKey, CollectiveSamples> collective_samples;
  std::string collective_file;
  std::vector<std::string> outputs; ///< files of this configuration
  bool whole = true;                ///< no rank and no event was lost
  bool reused = false;              ///< from an earlier run
};

/// What the outputs of a configuration depend on: version, options, and path, size and time of
/// change of every input; of parts, those of the traces that they were made of.
[[nodiscard]] std::string fingerprint_of(const RunPlan& plan, const std::string& options);

/// A name that says what is in a file: FNV-1a of its bytes; "" when it cannot be read.
[[nodiscard]] std::string content_mark(const std::string& path);

/// Errors: kOutput.
Result<void> save_state(const ConfigResult& config, const std::string& fingerprint,
                        const std::string& path);

/// Returns nullopt if there is no state, if it has other inputs, options or another version, if
/// data was lost when it was made, or if one of its outputs is missing or has another size. `diag`
/// names an unreadable state.
[[nodiscard]] std::optional<ConfigResult>
load_state(const std::string& path, const std::string& fingerprint, Diagnostics& diag);

/// The settings and labels that a sweep's page needs besides the configurations.
struct SweepState {
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
  std::vector<std::string> labels; ///< of the configurations, in order
};
Result<void> save_sweep(const SweepState& sweep, const OutputLayout& layout);

/// Returns the facts of a sweep from its configurations.
[[nodiscard]] SweepFacts facts_of(const std::vector<ConfigResult>& configs, std::size_t top_k,
                                  GemmRanking ranking);

/// Returns the facts of a sweep that analyze left in `folder` or in tracelens_analysis below it.
/// Errors: kUnreadable, with the hint to run analyze, if there is no state or another version made
/// it.
Result<SweepFacts> load_analysed(const std::string& folder);

} // namespace rankscope
