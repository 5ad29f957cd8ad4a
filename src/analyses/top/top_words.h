// Suggested commands that analyse a run further.
#pragma once

#include "analyses/top/top_facts.h"

#include <vector>

namespace rankscope {

/// Returns suggested commands for this input, with the user's paths; empty for standard input.
[[nodiscard]] std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input);

} // namespace rankscope
