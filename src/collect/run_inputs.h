// The inputs of a sweep's run in addition to its command and the variables that the sweep sets:
// inherited variables and the files that the command names. Also the traces that the run wrote.
#pragma once

#include "collect/run_manifest.h"
#include "collect/sweep_launch.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// Returns values by name: each inherited variable of the libraries (NCCL_, RCCL_, HSA_, HIP_,
/// ROCR_, CUDA_, TORCH_, MIOPEN_, PYTORCH_; a hash for a secret), and size and hash of each
/// argument that is a file, or of the file in OPTION=FILE. For a file above 64 MiB, the value is
/// its size and modification time. A container inherits no variables.
[[nodiscard]] std::map<std::string, std::string> read_run_inputs(const PlannedRun& run);

/// Returns the relative paths of files below the folder that have the endings of traces, sorted.
[[nodiscard]] std::vector<std::string> trace_files_below(const std::string& folder);

/// Returns the first difference between the saved run and the run as planned now: "NCCL_ALGO was
/// 'Ring', is 'Tree'"; "" = no difference. A manifest of an older release has no inputs; then
/// inputs are not compared.
[[nodiscard]] std::string difference_to_saved(const SavedRun& saved, const PlannedRun& run);

/// Returns the first trace that the saved run wrote and that is now missing; "" = all exist.
[[nodiscard]] std::string missing_trace(const SavedRun& saved, const PlannedRun& run);

} // namespace rankscope
