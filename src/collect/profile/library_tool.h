// The traces of library logs as a tool of a profiling run: one capture for all of them.
#pragma once

#include "collect/profile/native_tool.h"

#include <memory>
#include <string>

namespace rankscope {

/// Makes one tool for all library traces of the plan; nullptr without any. `out` is the run's
/// folder. `hide`: lines of libraries are not shown (run.log has them).
[[nodiscard]] std::unique_ptr<NativeTool>
make_library_tool(const Plan& plan, const std::string& out, const std::string& model, bool hide);

/// Returns the changes that turn on the log of a tool (rocblas_trace); empty for other tools.
[[nodiscard]] std::vector<EnvChange> library_environment(const ToolEntry& tool,
                                                         const std::string& log_folder,
                                                         const EnvPairs& environment,
                                                         std::vector<std::string>& notes);

} // namespace rankscope
