// A tool of a profiling run that checks whether ROCm is a build of TheRock. The result never stops
// the run.
#pragma once

#include "collect/profile/native_tool.h"
#include "collect/profile/preflight.h"

#include <memory>
#include <optional>
#include <string>

namespace rankscope {

struct TheRock {
  std::string place;   ///< folder of the installation, or the program rocm-sdk
  std::string version; ///< of .info/version; may be empty
};

/// Searches for marks of TheRock: share/therock/therock_manifest.json below $ROCM_PATH, $ROCM_HOME,
/// $HIP_PATH or /opt/rocm*, the Python packages _rocm_sdk_* of $VIRTUAL_ENV, rocm-sdk or the
/// system's Python, and the program rocm-sdk. In an image, only the program is searched for.
/// `searched` gets the searched places.
[[nodiscard]] std::optional<TheRock> find_therock(const PreflightTarget& target,
                                                  const EnvPairs& environment,
                                                  std::vector<std::string>& searched);

/// Returns the tool if the plan has it, else nullptr.
[[nodiscard]] std::unique_ptr<NativeTool>
make_therock_tool(const Plan& plan, const PreflightTarget& target, const EnvPairs& environment);

} // namespace rankscope
