#include "engine/run_check.h"

#include "base/counters.h"

namespace rankscope {
namespace {

const Counter<void(std::string_view)>& counter_of(RunProblem::Kind kind) {
  using Kind = RunProblem::Kind;
  switch (kind) {
  case Kind::kMissing:
    break;
  case Kind::kCopy:
    return counters::run_rank_copied;
  case Kind::kRank:
    return counters::run_rank_twice;
  case Kind::kWorld:
    return counters::run_world_differs;
  case Kind::kGroups:
    return counters::run_groups_differ;
  case Kind::kWindow:
    return counters::run_windows_differ;
  case Kind::kForeign:
    return counters::run_mixed;
  }
  return counters::run_ranks_missing;
}

} // namespace

std::vector<std::int64_t> known_missing(const RunPlan& plan) {
  std::vector<std::int64_t> out = plan.missing_ranks;
  for (const RankFile& file : plan.ranks)
    out.push_back(file.rank);
  return out;
}

void name_run_problems(Session& session, const RunPlan& plan,
                       std::span<const RunProblem> problems) {
  for (const RunProblem& problem : problems)
    session.diagnostics.add(counter_of(problem.kind)(problem.text), plan.folder, 1,
                            plan.configuration.label);
}

} // namespace rankscope
