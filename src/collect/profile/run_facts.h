// Facts about a finished run: why an output is empty, what the tools cost, failures in the log.
#pragma once

#include "collect/profile/library_watch.h"
#include "collect/profile/run.h"

namespace rankscope {

/// Why a tool that should have written something has not: a failed command, a library that was
/// never in memory or wrote no line, a run shorter than two samples, or no work to see.
ProfileFact empty_fact(const RunRequest& request, const ToolEntry& tool, const ToolResult& result,
                       const RunResult& run, const SeenLibraries& seen);

/// Overhead against the baseline, and lines of the log that look like failures of a run that
/// succeeded: its exit status is the truth, they are only shown.
void add_run_facts(const RunRequest& request, RunResult& run);

} // namespace rankscope
