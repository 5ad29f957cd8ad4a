// Findings about an energy measurement that is incomplete or uncertain.
#pragma once

#include "core/energy_doubt.h"
#include "core/finding.h"

#include <string>

namespace rankscope {

/// `run`: the run or tool to which the measurement belongs.
[[nodiscard]] Finding energy_finding(const std::string& run, const EnergyDoubt& doubt);

} // namespace rankscope
