// Runs PyTorch's own profiler around a program that is not changed. A sitecustomize module on
// PYTHONPATH starts the profiler when torch is imported and writes the trace when the process ends.
#pragma once

#include "collect/profile/native_tool.h"

#include <memory>
#include <string>

namespace rankscope {

/// Returns nullptr when the plan has no torch_profiler. The tool's folder in the plan's environment
/// is OUT/torch_profiler/site. A process that ends by a signal or by os._exit writes no trace.
[[nodiscard]] std::unique_ptr<NativeTool> make_torch_tool(const Plan& plan, const std::string& out);

} // namespace rankscope
