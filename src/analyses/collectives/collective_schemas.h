// The columns of the sheets about collectives. Labels are the documented headers.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "core/schema.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// With `on`, a sheet has the reference's form, without the columns that the reference lacks. This
/// form includes the nodes of ranks and groups if the number of GPUs per node is known.
struct ReferenceForm {
  bool on = false;
  std::int64_t per_node = 0; ///< GPUs per node; 0 = unknown
};

/// Returns the columns. `agg_metrics` may contain mean, median, min, max and std.
[[nodiscard]] Schema<SyncSummary> sync_summary_schema(const std::vector<std::string>& agg_metrics);
/// Returns the columns of sync_summary_schema() as the reference shows them: "Unknown" for data
/// that the trace lacks, and no bandwidth columns if all are unknown.
[[nodiscard]] Schema<SyncSummary>
reference_summary_schema(const std::vector<std::string>& agg_metrics,
                         std::span<const SyncSummary> rows);
/// Returns the columns that fit a terminal.
[[nodiscard]] Schema<SyncSummary> sync_summary_short_schema();
/// `name`: the name of the sheet, nccl_summary_long or (for a single rank) coll_analysis.
[[nodiscard]] Schema<RankSummary> rank_summary_schema(const std::string& name, bool nodes);
[[nodiscard]] Schema<AllToAllVSummary> all_to_all_v_summary_schema();
[[nodiscard]] Schema<SentTo> all_to_all_v_sent_schema();
[[nodiscard]] Schema<CollectiveKernel> collective_kernel_schema(const ReferenceForm& reference);
/// Returns whether sheets have columns for each rank; false for hundreds of ranks.
[[nodiscard]] bool has_rank_columns(std::span<const RankCollectives> ranks);
/// Returns the columns, with three for each rank if has_rank_columns().
[[nodiscard]] Schema<SyncCollective> sync_collective_schema(std::span<const RankCollectives> ranks,
                                                            const ReferenceForm& reference);
[[nodiscard]] Schema<AllToAllV> all_to_all_v_schema();
[[nodiscard]] Schema<Straggler> straggler_schema(const ReferenceForm& reference = {});
[[nodiscard]] Schema<ExposedRank> exposed_rank_schema();
[[nodiscard]] Schema<ExposedType> exposed_type_schema();
[[nodiscard]] Schema<GroupSummary> process_group_schema();
[[nodiscard]] Schema<RankClock> clock_schema();
[[nodiscard]] Schema<CollectiveProblem> problem_schema();

/// Returns the statistic called mean, median, min, max or std.
[[nodiscard]] double Stats::*stat_named(std::string_view name);

} // namespace rankscope
