#include "engine/run_check.h"

#include "base/counters.h"

#include <array>

namespace rankscope {
namespace {

/// The counters, indexed by RunProblem::Kind.
constexpr std::array kCounters{&counters::run_ranks_missing, &counters::run_rank_copied,
                               &counters::run_rank_twice,    &counters::run_world_differs,
                               &counters::run_groups_differ, &counters::run_windows_differ,
                               &counters::run_mixed};

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
    session.diagnostics.add((*kCounters.at(static_cast<std::size_t>(problem.kind)))(problem.text),
                            plan.folder, 1, plan.configuration.label);
}

} // namespace rankscope
