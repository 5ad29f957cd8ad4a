// Reports problems between the ranks of a run, in the same way for all commands.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Returns the missing ranks of a plan that are already reported, by discovery or by run_ranks.
[[nodiscard]] std::vector<std::int64_t> known_missing(const RunPlan& plan);

/// Reports each problem as data loss (exit code 4), with its counter and on one line.
void name_run_problems(Session& session, const RunPlan& plan, std::span<const RunProblem> problems);

} // namespace rankscope
