// Runs a copy of a command on each of several GPUs at once. The documented profilers call this
// dual-GCD mode: both dies of a GPU package run the workload.
#pragma once

#include "base/result.h"
#include "os/tasks.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the GPUs that get a copy, as HIP numbers them: `text` (numbers separated by commas, at
/// least one), or if it is empty the dies of the first package with two dies, else the only two
/// GPUs. `visible` is the value of HIP_VISIBLE_DEVICES; if set, `text` counts its entries. Errors:
/// kUsage, kMissingTool (no GPU can be read).
Result<std::vector<std::string>>
replica_devices(const std::string& text, const std::string& visible, const std::string& sysfs_root);

/// The command line that runs `command` on `devices` through this program (profile replicate).
[[nodiscard]] std::vector<std::string> replicated(const std::vector<std::string>& command,
                                                  const std::vector<std::string>& devices);

/// Runs a copy for each device at the same time, with HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and
/// RANKSCOPE_REPLICA (0, 1, ...), and our output streams; ends all of them on the token. Gives the
/// first status that is not 0 in the order of the devices, 128 + signal where one ended it.
/// Errors: kMissingTool.
Result<int> run_replicas(const std::vector<std::string>& command,
                         const std::vector<std::string>& devices, const CancelToken& cancel);

} // namespace rankscope
