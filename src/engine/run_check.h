// What does not fit together among the ranks of a run, named the same way by every command.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// The ranks of a plan that need no line of their own when they are missing: discovery or the loop
/// over ranks has named them.
[[nodiscard]] std::vector<std::int64_t> known_missing(const RunPlan& plan);

/// One line and one counter for each problem, as data loss (exit code 4).
void name_run_problems(Session& session, const RunPlan& plan, std::span<const RunProblem> problems);

} // namespace rankscope
