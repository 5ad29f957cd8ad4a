// The facts that `top` extracts from each rank while its trace is in memory, and the facts of all
// ranks.
#pragma once

#include "analyses/job/path_rows.h"
#include "analyses/top/top_facts.h"
#include "app/rank_needs.h"
#include "app/top.h"

#include <functional>
#include <optional>
#include <vector>

namespace rankscope {

/// Finds the file of each rank; a single trace counts as a run. Errors: those of discover_run, and
/// kUsage for a folder with several configurations.
Result<RunPlan> plan_top(Session& session, const TopRequest& request);

/// Additional facts to extract from each rank.
struct TopAlso {
  Needs needs;
  /// Called in the order of the ranks.
  std::function<Result<void>(const RankItem&, RankFacts&)> use;
};
/// Reads the ranks of the plan, several at a time, from their traces or parts; the session's
/// diagnostics name lost ranks. Errors: kUnreadable if no rank could be read.
Result<TopParts> read_top(Session& session, const RunPlan& plan, const TopRequest& request,
                          TopAlso also = {});

/// Returns the number of ranks of the run; for parts, the number for which they were made.
[[nodiscard]] std::size_t ranks_of_run(const RunPlan& plan);

/// Returns the collectives of all ranks; nullopt if there are no collectives. The result refers to
/// the parts.
[[nodiscard]] std::optional<CollectiveFacts> collectives_of_top(const TopParts& parts);

/// Adds diagnostics for contradictions between the ranks, and makes the facts of all ranks, with
/// the session's diagnostics. `collectives`: collectives of these parts, or nullptr. Moves the
/// graphs out of the parts. `path`: receives the critical path, if the parts have graphs.
Result<TopFacts> combine_top(Session& session, const RunPlan& plan, TopParts& parts,
                             const CollectiveFacts* collectives, const TopRequest& request,
                             std::vector<PathPart>* path = nullptr);

} // namespace rankscope
