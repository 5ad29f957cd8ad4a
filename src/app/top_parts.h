// What `top` takes of each rank while its trace is in memory, and what it makes of them all.
#pragma once

#include "analyses/top/top_facts.h"
#include "app/rank_needs.h"
#include "app/top.h"

#include <functional>
#include <optional>

namespace rankscope {

/// Which file is which rank; a trace alone is a run of its own. Errors: those of discover_run, and
/// kUsage for a folder with several configurations.
Result<RunPlan> plan_top(Session& session, const TopRequest& request);

/// What else is taken of each rank.
struct TopAlso {
  Needs needs;
  /// In the order of the ranks.
  std::function<Result<void>(const RankItem&, RankFacts&)> take;
};
/// Reads the ranks of the plan, several at a time, from their traces or parts; the session is told
/// what is lost. Errors: kUnreadable when no rank could be read.
Result<TopParts> read_top(Session& session, const RunPlan& plan, const TopRequest& request,
                          TopAlso also = {});

/// The ranks that the run has; of parts, those for which they were made.
[[nodiscard]] std::size_t ranks_of_run(const RunPlan& plan);

/// Of all ranks; none without collectives. Refers to the parts.
[[nodiscard]] std::optional<CollectiveFacts> collectives_of_top(const TopParts& parts);

/// Names what does not fit among the ranks and makes the facts of all; the session's diagnostics
/// become theirs. `collectives`: of these parts, nullptr for none. Takes the graphs out of the
/// parts.
Result<TopFacts> combine_top(Session& session, const RunPlan& plan, TopParts& parts,
                             const CollectiveFacts* collectives, const TopRequest& request);

} // namespace rankscope
