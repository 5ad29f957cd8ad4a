// A replayed run as a trace that viewers read.
#pragma once

#include "analyses/job/job_run.h"
#include "base/diagnostics.h"
#include "base/result.h"

#include <string>

namespace rankscope {

/// The run as the edit makes it, in the form of `merge`: GPU work by stream, calls of the runtime
/// by thread. Steps that were recorded one by one follow each other. Memory: one rank. Errors:
/// kOutput.
[[nodiscard]] Result<void> write_replayed(const JobRun& run, const JobEdit& edit,
                                          const std::string& path, Diagnostics& diagnostics);

} // namespace rankscope
