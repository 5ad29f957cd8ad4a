// run_ranks: the only loop over the ranks of configurations. It loads several ranks at once within
// a memory limit, extracts the needed data while a trace is in memory, and passes the data on in
// order.
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

/// A rank while run_ranks processes it.
struct RankItem {
  const RunPlan& plan;
  const RankFile& file;
  std::size_t plan_index; ///< index of its configuration among the plans
  std::size_t index;      ///< index over all ranks of all plans
};

/// Options of run_ranks.
struct RankRun {
  unsigned threads = 0;              ///< 0 = the session's threads
  std::uint64_t memory_bytes = 0;    ///< for traces in flight, 0 = half of the free memory
  std::size_t most_in_flight = 0;    ///< number of traces, 0 = as many as threads
  bool keep_python = false;          ///< read Python frames, which are not in the call trees
  bool link = true;                  ///< build call trees
  TreeRules rules = TreeRules::kOwn; ///< rules of the call trees
  bool progress = false;             ///< show progress
  bool quiet = false;                ///< a second pass over the files: lost ranks are already named
};

/// Callbacks for each rank. `extract` runs on any thread, several at once. The others run one at a
/// time and in the order of the ranks (so they need no locks against each other).
template <class Part> struct RankSteps {
  /// Extracts the part of one rank. An Error with kOutput or kInterrupted ends the run. After any
  /// other Error, only the rank is lost.
  std::function<Result<Part>(const RankItem&, const LoadedTrace&)> extract;
  /// Receives the extracted part while the trace is in memory. An Error ends the run. The trace is
  /// empty for a rank that was decoded from parts, so then only the part may be used.
  std::function<Result<void>(const RankItem&, const LoadedTrace&, Part)> take;
  /// Called before the trace of a rank is loaded, from any thread. Returns true if `extract` and
  /// `take` do not need the trace; they get one without events.
  std::function<bool(const RankItem&)> known = {};
  /// Replaces `extract` for ranks of a plan with parts. Plans with parts require it.
  std::function<Result<Part>(const RankItem&, const RankParts&)> decode = {};
  /// Replaces `take` for a rank that could not be loaded or extracted; the loss is reported before.
  std::function<void(const RankItem&, const Error&)> lost = {};
  /// Called after the last rank of a configuration, while ranks of the next are loaded: it may run
  /// at the same time as `take` of other configurations. An Error ends the run.
  std::function<Result<void>(std::size_t plan_index)> finished = {};
};

/// Reports a lost rank in the same way for every command: counter rank_failed, one line per rank.
void report_lost_rank(Session& session, const RunPlan& plan, const RankFile& file,
                      const Error& error);

/// Does the work of run_ranks() below for parts of any type.
Result<void> run_ranks_untyped(Session& session, const std::vector<const RunPlan*>& plans,
                               const RankRun& run, const RankSteps<AnyPart>& steps);

/// Runs the steps for every rank of every plan. Each file is loaded once, or its parts are decoded
/// if the plans have parts (all plans or no plan). A rank that cannot be read is named in the
/// session's diagnostics; only that rank is lost. Errors: the error of a step that ends the run
/// (ranks not yet begun are left out), kInternal.
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

/// Returns the parts of the ranks that could be read, ascending by rank, as a list for each plan.
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
