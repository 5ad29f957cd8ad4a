// Suggested commands that analyse a run further.
#pragma once

#include "analyses/top/top_facts.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns "5 steps" or, if ranks have different numbers of steps, "4 to 5 steps". Empty without
/// steps.
[[nodiscard]] std::string steps_of_ranks(const TopOverview& overview);
/// Returns suggested commands for this input, with the user's paths; empty for standard input.
[[nodiscard]] std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input);

} // namespace rankscope
