// What a reader has to know first of a trace with graph launches: what share of them has no
// operator, and what the profiler lost of them.
#pragma once

#include "analyses/analysis.h"

#include <string>

namespace rankscope {

/// The headline of graph launches; "" for a trace without them, and in compat mode.
[[nodiscard]] std::string graph_line(const LoadedTrace& trace, const ReportOptions& options);

/// Adds it as a remark (a warning when more than half of the GPU's time is of graphs and not
/// attributed), and one for launches of which the profiler lost GPU events, with their steps.
/// `least_percent`: of the GPU's time, below which graphs are not worth a remark.
void note_graphs(const LoadedTrace& trace, const ReportOptions& options, double least_percent,
                 Diagnostics& diagnostics);

} // namespace rankscope
