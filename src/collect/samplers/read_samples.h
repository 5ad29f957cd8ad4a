// gpu_samples.csv read back.
#pragma once

#include "base/result.h"
#include "model/step_energy.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// Power by the number of the GPU, ascending in time; rows without a power are left out, as is a
/// last row that a killed run left unfinished. Phases are not told apart: a trace's steps lie where
/// they lie. Errors: kUnreadable: no such file, a column missing, a row that is none, time that
/// runs backwards.
Result<std::map<int, std::vector<PowerSample>>> read_power_samples(const std::string& path);

} // namespace rankscope
