// run_ranks: the one loop over the ranks of configurations. Loads several at once within a memory
// bound, extracts what is wanted of each while its trace is in memory, and hands it on in order.
#pragma once

#include "base/invariant.h"
#include "base/result.h"
#include "core/any_part.h"
#include "core/loaded_trace.h"
#include "engine/loader.h"
#include "engine/rank_parts.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace rankscope {

/// A rank on its way through run_ranks.
struct RankItem {
  const RunPlan& plan;
  const RankFile& file;
  std::size_t plan_index; ///< of its configuration among the plans
  std::size_t index;      ///< over all ranks of all plans
};

/// How run_ranks goes about it.
struct RankRun {
  unsigned threads = 0;              ///< 0 = the session's
  std::uint64_t memory_bytes = 0;    ///< for traces in flight, 0 = half of the free
  std::size_t most_in_flight = 0;    ///< traces, 0 = as many as threads
  bool keep_python = false;          ///< Python frames, which are not in the call trees
  bool link = true;                  ///< build call trees
  TreeRules rules = TreeRules::kOwn; ///< of the call trees
  bool progress = false;             ///< show it
  bool quiet = false; ///< a second pass over the same files: lost ranks were named before
};

/// What happens to each rank. `extract` runs on any thread, several at once; the others run one at
/// a time and in the order of the ranks (so they need no locks against each other).
template <class Part> struct RankSteps {
  /// Of one rank, alone. An Error with kOutput or kInterrupted ends the run, another one loses the
  /// rank.
  std::function<Result<Part>(const RankItem&, const LoadedTrace&)> extract;
  /// Takes what was extracted, while the trace is still there. An Error ends the run. Of a rank
  /// that came as its parts the trace is empty: who takes parts needs the part alone.
  std::function<Result<void>(const RankItem&, const LoadedTrace&, Part)> take;
  /// Asked before the trace of a rank is loaded, from any thread: true when `extract` and `take` do
  /// without it. They are given one without events.
  std::function<bool(const RankItem&)> known = {};
  /// In place of `extract`, for ranks of a plan with parts. Without it there can be none.
  std::function<Result<Part>(const RankItem&, const RankParts&)> decode = {};
  /// In its place, for a rank that could not be loaded or extracted; the session has been told.
  std::function<void(const RankItem&, const Error&)> lost = {};
  /// After the last rank of a configuration, while ranks of the next are on their way: it may run
  /// beside `take` of other configurations. An Error ends the run.
  std::function<Result<void>(std::size_t plan_index)> finished = {};
};

/// Names a rank that was lost, the same way for every command: counter rank_failed, one line each.
void report_lost_rank(Session& session, const RunPlan& plan, const RankFile& file,
                      const Error& error);

/// As run_ranks below, of parts of any type.
Result<void> run_ranks_untyped(Session& session, const std::vector<const RunPlan*>& plans,
                               const RankRun& run, const RankSteps<AnyPart>& steps);

/// Every rank of every plan, each file loaded once; or decoded, where the plans have parts (all or
/// none). A rank that cannot be read is named in the
/// session's diagnostics and costs itself. Errors: what a step says that ends the run (ranks not
/// yet begun are left out), kInternal.
template <class Part>
Result<void> run_ranks(Session& session, const std::vector<const RunPlan*>& plans,
                       const RankRun& run, RankSteps<Part> steps) {
  RankSteps<AnyPart> untyped;
  untyped.extract = [&](const RankItem& item, const LoadedTrace& trace) -> Result<AnyPart> {
    RS_TRY(Part part, steps.extract(item, trace));
    return AnyPart::of(std::move(part));
  };
  untyped.take = [&](const RankItem& item, const LoadedTrace& trace, AnyPart part) {
    Part* const own = part.get<Part>();
    RS_ASSERT(own != nullptr && "extract and take agree");
    return steps.take(item, trace, std::move(*own));
  };
  if (steps.decode)
    untyped.decode = [&](const RankItem& item, const RankParts& held) -> Result<AnyPart> {
      RS_TRY(Part part, steps.decode(item, held));
      return AnyPart::of(std::move(part));
    };
  untyped.known = std::move(steps.known);
  untyped.lost = std::move(steps.lost);
  untyped.finished = std::move(steps.finished);
  return run_ranks_untyped(session, plans, run, untyped);
}

/// The parts of the ranks that could be read, ascending by rank, a list for each plan.
template <class Part>
Result<std::vector<std::vector<Part>>>
extract_ranks(Session& session, const std::vector<const RunPlan*>& plans, const RankRun& run,
              std::function<Result<Part>(const RankItem&, const LoadedTrace&)> extract) {
  std::vector<std::vector<Part>> parts(plans.size());
  RankSteps<Part> steps;
  steps.extract = std::move(extract);
  steps.take = [&](const RankItem& item, const LoadedTrace&, Part part) -> Result<void> {
    parts[item.plan_index].push_back(std::move(part));
    return {};
  };
  RS_CHECK(run_ranks<Part>(session, plans, run, std::move(steps)));
  return parts;
}

} // namespace rankscope
