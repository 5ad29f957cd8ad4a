// The commands that look closer at a run.
#pragma once

#include "analyses/top/top_facts.h"

#include <vector>

namespace rankscope {

/// Commands that take this input as it was given; none for standard input.
[[nodiscard]] std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input);

} // namespace rankscope
