// The saved state of a finished configuration. With it, analyze redoes only changed configurations
// and makes the page of a sweep from facts. Only this file reads saved states.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "analyses/operators/ops_summary.h"
#include "analyses/sweep/sweep.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "core/output_layout.h"
#include "engine/fact_cache.h"
#include "engine/rank_parts.h"
#include "readers/discovery.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// The facts of a rank for comparisons between thread settings.
struct ComparedRank {
  std::vector<TimelineRow> timeline;
  std::vector<OpsSummaryRow> ops;
};

struct ConfigResult {
  Configuration configuration;
  std::vector<RankRecord> records; ///< ascending by rank
  GemmFacts gemms;                 ///< GEMMs of the ranks, top k each
  std::map<std::int64_t, ComparedRank> compared;
  std::optional<std::vector<SyncSummary>> collectives; ///< not set without collectives
  std::map<CollectiveKey, CollectiveSamples> collective_samples;
  ExposedWaits exposed;
  std::int64_t per_node = 0; ///< GPUs per node; 0 = unknown
  std::string collective_file;
  std::vector<std::string> outputs; ///< files that belong to this configuration
  bool complete = true;             ///< no rank and no event was lost, and all inputs were unique
  bool reused = false;              ///< reused from an earlier run
};

/// Adds a rank that could not be analysed.
void add_lost_rank(ConfigResult& config, std::int64_t rank, const Error& error);
/// Sets the collectives of a configuration. `identities`: those of its ranks.
void set_collectives(ConfigResult& config, const CollectiveFacts& facts,
                     std::span<const RankIdentity> identities);

/// Returns the fingerprint of everything the outputs of a configuration depend on: version,
/// options, and path and identity of every input. It is not unique if the identity of an input is
/// not unique, or if the inputs are parts.
[[nodiscard]] TraceIdentity fingerprint_of(const RunPlan& plan, const std::string& options);

/// Returns a mark of the content of a file: FNV-1a of its bytes; "" if the file cannot be read.
[[nodiscard]] std::string content_mark(const std::string& path);

/// Errors: kOutput.
Result<void> save_state(const ConfigResult& config, const std::string& fingerprint,
                        const std::string& path);

/// Returns the saved state of a configuration. Returns nullopt if there is no state, its inputs,
/// options or version differ, data was lost when it was made, or an output is missing or has
/// another size. `diag` names an unreadable state.
[[nodiscard]] std::optional<ConfigResult>
load_state(const std::string& path, const std::string& fingerprint, Diagnostics& diag);

/// The settings and labels that a sweep's page needs besides the configurations.
struct SweepState {
  std::size_t top_k = 5;
  GemmRanking ranking = GemmRanking::kRange;
  std::vector<std::string> labels; ///< labels of the configurations, in order
};
Result<void> save_sweep(const SweepState& sweep, const OutputLayout& layout);

/// Returns the facts of a sweep from its configurations.
[[nodiscard]] SweepFacts facts_of(const std::vector<ConfigResult>& configs, std::size_t top_k,
                                  GemmRanking ranking);

/// Returns the facts of a sweep that analyze saved in `folder` or in tracelens_analysis below it.
/// Errors: kUnreadable, with the hint to run analyze, if there is no state or another version wrote
/// it.
Result<SweepFacts> load_analysed(const std::string& folder);

} // namespace rankscope
