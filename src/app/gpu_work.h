// Commands that report on GPU work leave out traces without it: zeros would look like a result.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <string>

namespace rankscope {

/// Returns a kUnreadable error that says what to do. `where`: a trace or the folder of a run. The
/// timeline of a pipeline-parallel job is named as such.
[[nodiscard]] Error no_gpu_work(const std::string& where);

/// Returns a kUnreadable error if the trace contains no GPU work. The error says if the file is
/// truncated. `diagnostics`: those of the loader.
[[nodiscard]] Result<void> require_gpu_work(const std::string& path,
                                            const Diagnostics& diagnostics);

} // namespace rankscope
