// The steps of a profiling run's traces and the power that was sampled in it, joined.
#pragma once

#include "app/profile_run.h"

namespace rankscope {

/// Fills `outcome.step_energy` if the run sampled power and one of its traces has steps; writes it
/// to reports/step_energy.csv and into the manifest's values. Errors: kOutput. Samples that cannot
/// be read are a note of the run.
Result<void> join_step_energy(const PreparedRun& prepared, ProfileOutcome& outcome);

} // namespace rankscope
