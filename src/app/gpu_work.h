// Commands whose answer is about GPU work end with exit code 3 when no trace contains any: a table
// of zeros looks like a result.
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rankscope {

/// kUnreadable, with what to do.
[[nodiscard]] Error no_gpu_work(const std::string& where);

/// Returns no_gpu_work() if ranks were read and no rank has GPU work.
[[nodiscard]] Result<void> require_gpu_work(const std::vector<RankRecord>& ranks,
                                            const std::string& where);

} // namespace rankscope
