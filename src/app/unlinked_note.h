// The note that names which of the two definitions of total_time is shown; every command uses the
// same note.
#pragma once

#include "analyses/analysis.h"

namespace rankscope {

/// Adds a note if the trace has GPU events without a launch. The note says whether gpu_timeline
/// counts these events, and gives total_time with the other choice. If all GPU events have a
/// launch, both times are equal and no note is added.
void note_unlinked(const LoadedTrace& trace, const ReportOptions& options,
                   Diagnostics& diagnostics);

} // namespace rankscope
