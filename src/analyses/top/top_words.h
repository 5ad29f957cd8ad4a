// What the facts of a run say in sentences, and the commands that look closer.
#pragma once

#include "analyses/sweep/sweep_compare.h"
#include "analyses/top/top_facts.h"

#include <string>
#include <vector>

namespace rankscope {

/// Each with its figures; statements over ranks only beyond their intervals, as `analyze` and
/// `collectives` make them. `facts`: all but findings and next.
[[nodiscard]] std::vector<std::string> top_findings(const TopFacts& facts,
                                                    const ConfigurationRanks& run,
                                                    const SlowRanks& slow,
                                                    const CollectiveFacts* collectives);

/// Commands that take this input as it was given; none for standard input.
[[nodiscard]] std::vector<TopNext> top_next_steps(const TopFacts& facts, const TopInput& input);

} // namespace rankscope
