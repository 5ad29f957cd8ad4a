// Final output of `analyze` and `reduce --as analyze`.
#pragma once

#include "app/analyze.h"
#include "cli/command.h"

namespace rankscope {

/// Prints the configurations, findings, next actions and output paths (JSON with --json). `named`:
/// the sweep is one of several.
void show_sweep(Context& ctx, const AnalyzeRequest& request, const AnalyzedSweep& sweep,
                bool named);
/// Prints the path of the page that compares the sweeps; nothing with --json.
void show_sides_page(Context& ctx, const std::string& page);

} // namespace rankscope
