// A tool of a profiling run that traces library logs; one capture serves all libraries.
#pragma once

#include "collect/profile/native_tool.h"

#include <memory>
#include <string>

namespace rankscope {

/// Makes one tool for all library traces of the plan; nullptr if there are no such traces. `out` is
/// the run's folder. `hide`: the libraries' lines are not shown, only written to run.log.
[[nodiscard]] std::unique_ptr<NativeTool>
make_library_tool(const Plan& plan, const std::string& out, const std::string& model, bool hide);

/// Returns the changes that turn on the log of a tool (rocblas_trace); empty for other tools.
[[nodiscard]] std::vector<EnvChange> library_environment(const ToolEntry& tool,
                                                         const std::string& log_folder,
                                                         const EnvPairs& environment,
                                                         std::vector<std::string>& notes);

} // namespace rankscope
