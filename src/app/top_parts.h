// What `top` takes of each rank while its trace is in memory, and what it makes of them all.
#pragma once

#include "analyses/top/top_facts.h"
#include "app/top.h"
#include "core/loaded_trace.h"
#include "engine/run_ranks.h"

namespace rankscope {

/// One rank on its way into TopParts, with what is to be said of its trace.
struct TopPart {
  TopRank rank;
  RankRecord record;
  RankCollectives collectives;
  RankIdentity identity;
  Diagnostics diagnostics;
};

/// Errors: those of load_gpu_arch.
Result<TopPart> top_part_of(const LoadedTrace& trace, const RankItem& item,
                            const ReportOptions& options);

/// Which file is which rank; a trace alone is a run of its own. Errors: those of discover_run, and
/// kUsage for a folder with several configurations.
Result<RunPlan> plan_top(Session& session, const TopRequest& request);

/// Names what does not fit among the ranks and makes the facts of all; the session's diagnostics
/// become theirs.
Result<TopFacts> combine_top(Session& session, const RunPlan& plan, const TopParts& parts,
                             const TopRequest& request);

} // namespace rankscope
