// Joins the steps of a profiling run's traces with the power sampled during the run.
#pragma once

#include "app/profile_run.h"

namespace rankscope {

/// Fills `outcome.step_energy` if the run sampled power and one of its traces has steps. Writes it
/// to reports/step_energy.csv and into the manifest's values. If samples cannot be read, adds a
/// note to the run. Errors: kOutput.
Result<void> join_step_energy(const PreparedRun& prepared, ProfileOutcome& outcome);

} // namespace rankscope
