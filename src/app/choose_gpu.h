// Which board the rooflines are of.
#pragma once

#include "analyses/analysis.h"
#include "core/trace.h"

namespace rankscope {

/// Without a word about the GPU, options.gpu_arch becomes the board that all of the trace's devices
/// are, if it is a known one; "none" becomes none. Compat mode takes only what it is told. Whether
/// a board was recognised.
bool choose_gpu(const Trace& trace, ReportOptions& options);

} // namespace rankscope
