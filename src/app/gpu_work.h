// Commands that report on GPU work exit with code 3 if no trace contains any: a table of zeros
// looks like a result.
#pragma once

#include "analyses/sweep/sweep_facts.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns a kUnreadable error that says what to do. `where`: a trace or the folder of a run. The
/// timeline of a pipeline-parallel job is named as such.
[[nodiscard]] Error no_gpu_work(const std::string& where);

/// Returns no_gpu_work() if ranks were read and no rank has GPU work.
[[nodiscard]] Result<void> require_gpu_work(const std::vector<RankRecord>& ranks,
                                            const std::string& where);

} // namespace rankscope
