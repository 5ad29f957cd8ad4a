// The facts that `top` extracts from each rank while its trace is in memory, and the facts of all
// ranks.
#pragma once

#include "analyses/top/top_facts.h"
#include "app/rank_needs.h"
#include "app/top.h"
#include "findings/top_causes.h"

#include <functional>
#include <optional>
#include <string>

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
/// The causes of a run and the cache.
struct CachedCauses {
  /// The causes, if the cache has them; the parts then have no graphs. Else combine_top() sets
  /// them.
  std::optional<TopCauses> causes;
  /// Identifies the traces from which the parts were made; "": the causes are not cached.
  std::string identity;
};
/// The data of the ranks, from which combine_top() makes the facts.
struct TopRead {
  TopParts parts;
  CachedCauses cached;
};
/// Reads the ranks of the plan, several at a time, from their traces or parts; the session's
/// diagnostics name lost ranks. Errors: kUnreadable if no rank could be read.
Result<TopRead> read_top(Session& session, const RunPlan& plan, const TopRequest& request,
                         TopAlso also = {});

/// Returns the number of ranks of the run; for parts, the number for which they were made.
[[nodiscard]] std::size_t ranks_of_run(const RunPlan& plan);

/// Returns the collectives of all ranks; nullopt if there are no collectives. The result refers to
/// the parts.
[[nodiscard]] std::optional<CollectiveFacts> collectives_of_top(const TopParts& parts);

/// Adds diagnostics for contradictions between the ranks, and makes the facts of all ranks, with
/// the session's diagnostics. `collectives`: collectives of these parts, or nullptr. Moves the
/// graphs out of the parts. `cached`: those of read_top(); they receive the causes.
Result<TopFacts> combine_top(Session& session, const RunPlan& plan, TopParts& parts,
                             const CollectiveFacts* collectives, const TopRequest& request,
                             CachedCauses* cached = nullptr);

} // namespace rankscope
