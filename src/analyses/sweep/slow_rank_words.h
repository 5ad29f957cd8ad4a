// Slow ranks in words: what `top` and `analyze` say of them.
#pragma once

#include "analyses/sweep/sweep_compare.h"

#include <string>
#include <vector>

namespace rankscope {

/// A sentence for each range of slow ranks, the largest excess first; without any, one for each
/// tested configuration that says what could have been seen. `name_configurations`: of a sweep.
[[nodiscard]] std::vector<std::string> slow_rank_findings(const SlowRanks& slow,
                                                          bool name_configurations);

/// What to do about ranks that are slower by more than one percent in most configurations.
[[nodiscard]] std::vector<std::string> slow_rank_advice(const SlowRanks& slow);

} // namespace rankscope
