// Chooses the GPU for rooflines.
#pragma once

#include "analyses/analysis.h"
#include "core/trace.h"

namespace rankscope {

/// Sets an empty options.gpu_arch to the GPU of the trace if all devices of the trace are the same
/// known GPU. Clears the value "none". Compat mode does not recognise GPUs: the user has to name
/// the GPU. Returns whether a GPU was recognised.
bool choose_gpu(const Trace& trace, ReportOptions& options);

} // namespace rankscope
