// Runs a copy of a command on each of several GPUs at once. The documented profilers call this
// dual-GCD mode: both dies of a GPU package run the workload.
#pragma once

#include "base/result.h"
#include "os/tasks.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the GPUs that get a copy, as HIP numbers them. `text` contains numbers separated by
/// commas. If it is empty, the GPUs are the dies of the first package with two dies, else the only
/// two GPUs. If `visible` (the value of HIP_VISIBLE_DEVICES) is set, the numbers in `text` are
/// positions in its list. Errors: kUsage, kMissingTool (no GPU can be read).
Result<std::vector<std::string>>
replica_devices(const std::string& text, const std::string& visible, const std::string& sysfs_root);

/// Returns the command line that runs `command` on `devices` through this program (profile
/// replicate).
[[nodiscard]] std::vector<std::string> replicated(const std::vector<std::string>& command,
                                                  const std::vector<std::string>& devices);

/// Runs one copy per device at the same time. Each copy has our output streams and the variables
/// HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and RANKSCOPE_REPLICA (0, 1, ...). The token ends all
/// copies. Returns the first status that is not 0 in the order of the devices; 128 + signal if a
/// signal ended the copy. Errors: kMissingTool.
Result<int> run_replicas(const std::vector<std::string>& command,
                         const std::vector<std::string>& devices, const CancelToken& cancel);

} // namespace rankscope
