// What analyze writes over all configurations of a sweep.
#pragma once

#include "app/analyze.h"

namespace rankscope {

/// Summary, tables over all configurations and comparisons; adds their names to sweep.outputs.
Result<void> write_sweep_tables(const AnalyzeRequest& request, AnalyzedSweep& sweep);

/// manifest.json: what was read, how, and what was made of it.
Result<void> write_manifest(const AnalyzeRequest& request, const AnalyzedSweep& sweep);

} // namespace rankscope
