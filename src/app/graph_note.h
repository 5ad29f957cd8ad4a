// Notes on a trace with graph launches that the user should read first: the share of graph work
// without an operator, and the GPU events that the profiler lost.
#pragma once

#include "analyses/analysis.h"

#include <string>

namespace rankscope {

/// Returns a one-line summary of graph launches; "" for a trace without them, and in compat mode.
[[nodiscard]] std::string graph_line(const LoadedTrace& trace, const ReportOptions& options);

/// Adds the one-line summary as a note, or as a warning if more than half of the GPU time belongs
/// to graphs and is not attributed. Adds another note for launches whose GPU events the profiler
/// lost, with their steps. Adds nothing if graphs take less than `least_percent` of the GPU time.
void note_graphs(const LoadedTrace& trace, const ReportOptions& options, double least_percent,
                 Diagnostics& diagnostics);

} // namespace rankscope
