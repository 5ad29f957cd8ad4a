// Checks whether ROCm is one of TheRock's builds, as a tool of a profiling run. The answer never
// stops the run.
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

/// Looks for TheRock's marks: share/therock/therock_manifest.json below $ROCM_PATH, $ROCM_HOME,
/// $HIP_PATH or /opt/rocm*, the Python packages _rocm_sdk_* of $VIRTUAL_ENV, rocm-sdk or the
/// system's Python, and the program rocm-sdk. In an image the program alone is looked for.
/// `searched` gets the places.
[[nodiscard]] std::optional<TheRock> find_therock(const PreflightTarget& target,
                                                  const EnvPairs& environment,
                                                  std::vector<std::string>& searched);

/// The tool where the plan has it, else nullptr.
[[nodiscard]] std::unique_ptr<NativeTool>
make_therock_tool(const Plan& plan, const PreflightTarget& target, const EnvPairs& environment);

} // namespace rankscope
