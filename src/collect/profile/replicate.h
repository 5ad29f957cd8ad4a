// A command on several GPUs at once, a copy for each: what the documented profilers call dual-GCD
// mode, where both dies of a board run the workload.
#pragma once

#include "base/result.h"
#include "os/tasks.h"

#include <string>
#include <vector>

namespace rankscope {

/// The GPUs that get a copy, as HIP numbers them: `text` (numbers separated by commas, at least
/// one), or where it is empty the dies of the first board that carries two, or the only two GPUs
/// that there are. `visible` is the value of HIP_VISIBLE_DEVICES, whose entries are then meant.
/// Errors: kUsage, kMissingTool (no GPU can be read).
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
