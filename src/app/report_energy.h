// The sheets step_energy and kernel_energy of a report, from a table of power samples.
#pragma once

#include "app/step_energy.h"
#include "core/loaded_trace.h"
#include "core/report.h"

#include <set>
#include <string>

namespace rankscope {

/// Adds the sheets that have rows and that `sheets` names (empty = both). If the trace's clock is
/// unknown, or the samples do not overlap the trace, the report's diagnostics say so. `gpus`: see
/// ReportRequest::power_gpus. Errors: kUnreadable (the table).
Result<void> add_energy(const LoadedTrace& loaded, const TracedSteps& steps,
                        const std::string& path, const std::string& gpus,
                        const std::set<std::string>& sheets, Report& report);

} // namespace rankscope
