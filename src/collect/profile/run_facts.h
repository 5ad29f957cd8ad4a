// Facts about a finished run: why an output is empty, the overhead of the tools, failures in the
// log.
#pragma once

#include "collect/profile/library_watch.h"
#include "collect/profile/run.h"

namespace rankscope {

/// Returns why a tool wrote nothing: a failed command, a library that was never loaded or wrote no
/// line, a run shorter than two samples, or no work to record.
ProfileFact empty_fact(const RunRequest& request, const ToolEntry& tool, const ToolResult& result,
                       const RunResult& run, const SeenLibraries& seen);

/// Adds the overhead against the baseline, and a log line that looks like a failure although the
/// run succeeded. Such a line is only shown: the exit status alone determines whether the run
/// succeeded.
void add_run_facts(const RunRequest& request, RunResult& run);

} // namespace rankscope
