// The files that analyze writes about all configurations of a sweep.
#pragma once

#include "app/analyze.h"

namespace rankscope {

/// Writes the summary, the tables over all configurations and the comparisons; adds their names to
/// sweep.outputs.
Result<void> write_sweep_tables(const AnalyzeRequest& request, AnalyzedSweep& sweep);

/// Writes manifest.json, which lists the inputs, the options and the outputs.
Result<void> write_manifest(const AnalyzeRequest& request, const AnalyzedSweep& sweep);

} // namespace rankscope
