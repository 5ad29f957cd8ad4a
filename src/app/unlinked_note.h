// The remark that tells which of the two definitions of total_time is shown, the same in every
// command.
#pragma once

#include "analyses/analysis.h"

namespace rankscope {

/// Adds a remark when the trace has GPU events without a launch: whether gpu_timeline counts them,
/// and what total_time is with the other choice. Nothing otherwise: both are then one number.
void note_unlinked(const LoadedTrace& trace, const ReportOptions& options,
                   Diagnostics& diagnostics);

} // namespace rankscope
