// What a sweep says in words, from its facts: findings, and what to try next.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/sweep_facts.h"

#include <string>
#include <vector>

namespace rankscope {

/// The summary in words, one finding a line.
[[nodiscard]] std::vector<std::string> summary_findings(const std::vector<RankRecord>& records);

/// What to try next, each with the numbers behind it.
[[nodiscard]] std::vector<std::string> next_steps(const std::vector<RankRecord>& records,
                                                  const GemmFacts& gemms);

} // namespace rankscope
