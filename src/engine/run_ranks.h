// run_ranks: the only loop over the ranks of configurations. It loads several ranks at the same
// time, within a memory limit. It extracts the data while a trace is in memory, and passes the data
// on in the order of the ranks.
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
  std::size_t index;      ///< index of the rank among all ranks of all plans
};

/// Options of run_ranks.
struct RankRun {
  unsigned threads = 0;           ///< 0 = the session's threads
  std::uint64_t memory_bytes = 0; ///< for traces in flight; 0 = half of the free memory
  std::size_t most_in_flight = 0; ///< maximum number of traces in flight; 0 = as many as threads
  bool keep_python = false;       ///< read Python frames; the call trees do not contain them
  bool link = true;               ///< build call trees
  TreeRules rules = TreeRules::kRankscope; ///< rules of the call trees
  bool progress = false;                   ///< show progress
  bool quiet = false; ///< do not report lost ranks, because an earlier pass over the
                      ///< files reported them
};

/// Callbacks for each rank. `extract`, `decode` and `known` run on any thread, several at the same
/// time. `consume` and `lost` run one at a time and in the order of the ranks, so they need no
/// locks.
template <class Part> struct RankSteps {
  /// Extracts the part of one rank. An Error with kOutput or kInterrupted ends the run. After any
  /// other Error, only this rank is lost.
  std::function<Result<Part>(const RankItem&, const LoadedTrace&)> extract;
  /// Receives the extracted part while the trace is in memory. An Error ends the run. If the part
  /// was decoded (not extracted), the trace is empty.
  std::function<Result<void>(const RankItem&, const LoadedTrace&, Part)> consume;
  /// Called on any thread before the trace of a rank is loaded. Returns true if `extract` and
  /// `consume` do not need the trace; they then get a trace without events.
  std::function<bool(const RankItem&)> known = {};
  /// Called instead of `extract` for plans that have parts; required for such plans.
  std::function<Result<Part>(const RankItem&, const RankParts&)> decode = {};
  /// Called instead of `consume` if a rank could not be loaded or extracted, after the loss was
  /// reported.
  std::function<void(const RankItem&, const Error&)> lost = {};
  /// Called after the last rank of a configuration. `consume` of ranks of other configurations may
  /// run at the same time. An Error ends the run.
  std::function<Result<void>(std::size_t plan_index)> finished = {};
};

/// Reports a lost rank: counter rank_failed, one line per rank. All commands use it.
void report_lost_rank(Session& session, const RunPlan& plan, const RankFile& file,
                      const Error& error);

/// Returns a kUnreadable error that names the first lost rank, for a command that has no rank left.
[[nodiscard]] Error no_rank_left(const Session& session, const std::string& where);

/// Implements run_ranks() below for parts of any type.
Result<void> run_ranks_untyped(Session& session, const std::vector<const RunPlan*>& plans,
                               const RankRun& run, const RankSteps<AnyPart>& steps);

/// Runs the steps for each rank of each plan. Each file is loaded once; if the plans have parts
/// (all of them or no plan), parts are decoded instead. If a rank cannot be read, it is reported in
/// the session's diagnostics, and only this rank is lost. Errors: the error that ended the run
/// (ranks that had not begun are left out), kInternal.
template <class Part>
Result<void> run_ranks(Session& session, const std::vector<const RunPlan*>& plans,
                       const RankRun& run, RankSteps<Part> steps) {
  RankSteps<AnyPart> untyped;
  untyped.extract = [&](const RankItem& item, const LoadedTrace& trace) -> Result<AnyPart> {
    RS_TRY(Part part, steps.extract(item, trace));
    return AnyPart::of(std::move(part));
  };
  untyped.consume = [&](const RankItem& item, const LoadedTrace& trace, AnyPart part) {
    Part* const typed = part.get<Part>();
    RS_ASSERT(typed != nullptr && "extract and consume agree");
    return steps.consume(item, trace, std::move(*typed));
  };
  if (steps.decode)
    untyped.decode = [&](const RankItem& item, const RankParts& parts) -> Result<AnyPart> {
      RS_TRY(Part part, steps.decode(item, parts));
      return AnyPart::of(std::move(part));
    };
  untyped.known = std::move(steps.known);
  untyped.lost = std::move(steps.lost);
  untyped.finished = std::move(steps.finished);
  return run_ranks_untyped(session, plans, run, untyped);
}

/// Returns, for each plan, the parts of the ranks that could be read, in ascending order of the
/// rank.
template <class Part>
Result<std::vector<std::vector<Part>>>
extract_ranks(Session& session, const std::vector<const RunPlan*>& plans, const RankRun& run,
              std::function<Result<Part>(const RankItem&, const LoadedTrace&)> extract) {
  std::vector<std::vector<Part>> parts(plans.size());
  RankSteps<Part> steps;
  steps.extract = std::move(extract);
  steps.consume = [&](const RankItem& item, const LoadedTrace&, Part part) -> Result<void> {
    parts[item.plan_index].push_back(std::move(part));
    return {};
  };
  RS_CHECK(run_ranks<Part>(session, plans, run, std::move(steps)));
  return parts;
}

} // namespace rankscope
