// What `analyze` says at its end, and `reduce --as analyze`.
#pragma once

#include "app/analyze.h"
#include "cli/command.h"

namespace rankscope {

/// The configurations, findings, what to try next and where the outputs are (JSON with --json).
/// `named`: the sweep is one of several.
void show_sweep(Context& ctx, const AnalyzeRequest& request, const AnalyzedSweep& sweep,
                bool named);
/// Prints the path of the page that compares the sweeps; nothing with --json.
void show_sides_page(Context& ctx, const std::string& page);

} // namespace rankscope
