// The choice of the GPU for rooflines.
#pragma once

#include "analyses/analysis.h"
#include "core/trace.h"

namespace rankscope {

/// Sets an empty options.gpu_arch to the GPU of the trace, if all its devices are the same known
/// GPU; clears the value "none". Compat mode recognises no GPU: the user has to name it. Returns
/// whether a GPU was recognised.
bool choose_gpu(const Trace& trace, ReportOptions& options);

} // namespace rankscope
