// Findings about one run of a sweep.
#pragma once

#include "core/finding.h"
#include "core/run_check.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the findings; those about settings that had no effect are first. `run`: label of the
/// run.
[[nodiscard]] std::vector<Finding> run_check_findings(const std::string& run,
                                                      const RunCheck& check);

} // namespace rankscope
