// The tuner file of a sweep over algorithms, protocols and channels.
#pragma once

#include "analyses/sweep/tuner.h"
#include "app/sweep.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the algorithm, protocol and channels of each setting, from the variables of its runs.
/// Errors: kUsage if a setting does not name one algorithm, one protocol and the channels.
Result<std::vector<TunerSetting>> tuner_settings(const SweepRequest& request,
                                                 const SweepPlan& plan);

/// Errors: kUnreadable if nothing was measured with the default setting; kOutput.
Result<void> write_tuner(const std::string& path, const SweepRequest& request,
                         const SweepPlan& plan,
                         const std::vector<ConfigurationCollectives>& collectives);

} // namespace rankscope
