// Writes a replayed run as a trace for viewers.
#pragma once

#include "analyses/job/job_run.h"
#include "base/diagnostics.h"
#include "base/result.h"

#include <string>

namespace rankscope {

/// Writes the run after the edit, in the format of `merge`: GPU work by stream, runtime calls by
/// thread. Steps that were recorded separately follow each other. Memory: one rank. Errors:
/// kOutput.
[[nodiscard]] Result<void> write_replayed(const JobRun& run, const JobEdit& edit,
                                          const std::string& path, Diagnostics& diagnostics);

} // namespace rankscope
