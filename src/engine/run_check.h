// Reports on ranks of a run that do not fit together, shared by all commands.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Returns the ranks of a plan that need no separate line when they are missing, because discovery
/// or the loop over ranks has named them.
[[nodiscard]] std::vector<std::int64_t> known_missing(const RunPlan& plan);

/// Reports each problem as data loss (exit code 4), with one line and one counter.
void name_run_problems(Session& session, const RunPlan& plan, std::span<const RunProblem> problems);

} // namespace rankscope
