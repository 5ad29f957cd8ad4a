// What a reader has to know first of a trace with graph launches: what share of them has no
// operator, and what the profiler lost of them.
#pragma once

#include "analyses/analysis.h"

#include <string>

namespace rankscope {

/// Returns the headline of graph launches; "" for a trace without them, and in compat mode.
[[nodiscard]] std::string graph_line(const LoadedTrace& trace, const ReportOptions& options);

/// Adds the headline as a note (a warning if more than half of the GPU time belongs to graphs and
/// is not attributed), and another for launches whose GPU events the profiler lost, with their
/// steps. `least_percent`: of the GPU time; a lower part of graphs is not worth a note.
void note_graphs(const LoadedTrace& trace, const ReportOptions& options, double least_percent,
                 Diagnostics& diagnostics);

} // namespace rankscope
