// What `top` takes of each rank while its trace is in memory, and what it makes of them all.
#pragma once

#include "analyses/top/top_facts.h"
#include "app/top.h"
#include "core/loaded_trace.h"
#include "engine/run_ranks.h"

#include <functional>
#include <optional>

namespace rankscope {

/// One rank on its way into TopParts, with what is to be said of its trace.
struct TopPart {
  TopRank rank;
  RankRecord record;
  RankCollectives collectives;
  RankIdentity identity;
  Diagnostics diagnostics;
};

/// What the figures of a trace are made with: its board's rooflines; where nothing in it is linked,
/// all of its GPU work.
[[nodiscard]] ReportOptions top_options(const LoadedTrace& trace, const ReportOptions& given);

/// Errors: those of load_gpu_arch.
Result<TopPart> top_part_of(const LoadedTrace& trace, const RankItem& item,
                            const ReportOptions& options);

/// Which file is which rank; a trace alone is a run of its own. Errors: those of discover_run, and
/// kUsage for a folder with several configurations.
Result<RunPlan> plan_top(Session& session, const TopRequest& request);

/// What else is taken of a trace while it is in memory; called from any thread, several at once. An
/// Error loses the rank.
using TopAlso = std::function<Result<void>(const RankItem&, const LoadedTrace&)>;
/// The same of a rank that comes as its parts.
using TopAlsoHeld = std::function<Result<void>(const RankItem&, const RankParts&)>;
/// Reads the ranks of the plan, several at a time, from their traces or from `parts`; the session
/// is told what is lost. Both `also` may be empty. Errors: kUnreadable when no rank could be read.
Result<TopParts> read_top(Session& session, const RunPlan& plan, const TopRequest& request,
                          const TopAlso& also, const PartSource* parts = nullptr,
                          const TopAlsoHeld& also_held = {});

/// Of all ranks; none without collectives. Refers to the parts.
[[nodiscard]] std::optional<CollectiveFacts> collectives_of_top(const TopParts& parts);

/// Names what does not fit among the ranks and makes the facts of all; the session's diagnostics
/// become theirs. `collectives`: of these parts, nullptr for none.
Result<TopFacts> combine_top(Session& session, const RunPlan& plan, const TopParts& parts,
                             const CollectiveFacts* collectives, const TopRequest& request);

} // namespace rankscope
