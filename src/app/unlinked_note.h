// The note that names which of the two definitions of total_time is shown, the same in every
// command.
#pragma once

#include "analyses/analysis.h"

namespace rankscope {

/// Adds a note if the trace has GPU events without a launch: whether gpu_timeline counts them, and
/// total_time with the other choice. Adds nothing otherwise: both are then equal.
void note_unlinked(const LoadedTrace& trace, const ReportOptions& options,
                   Diagnostics& diagnostics);

} // namespace rankscope
