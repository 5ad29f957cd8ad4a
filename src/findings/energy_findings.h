// Findings on incomplete or uncertain energy of a run.
#pragma once

#include "core/energy_doubt.h"
#include "core/finding.h"

#include <string>

namespace rankscope {

/// `run`: the run or tool that the finding is about.
[[nodiscard]] Finding energy_finding(const std::string& run, const EnergyDoubt& doubt);

} // namespace rankscope
