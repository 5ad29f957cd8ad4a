#include "engine/run_check.h"

#include <fmt/format.h>

namespace rankscope {

std::vector<std::int64_t> known_missing(const RunPlan& plan) {
  std::vector<std::int64_t> out = plan.missing_ranks;
  for (const RankFile& file : plan.ranks)
    out.push_back(file.rank);
  return out;
}

void name_run_problems(Session& session, const RunPlan& plan,
                       std::span<const RunProblem> problems) {
  for (const RunProblem& problem : problems)
    session.diagnostics.add(Severity::kDataLoss,
                            fmt::format("{}_{}_{}", problem_name(problem.kind),
                                        plan.configuration.label,
                                        problem.ranks.empty() ? 0 : problem.ranks.front()),
                            plan.folder, problem.text);
}

} // namespace rankscope
