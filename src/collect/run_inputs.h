// What a run of a sweep depends on beyond the command and the variables that the sweep sets: the
// variables that it inherits and the files that its command names. Also the traces that it left.
#pragma once

#include "collect/run_manifest.h"
#include "collect/sweep_launch.h"

#include <map>
#include <string>
#include <vector>

namespace rankscope {

/// By name: the value of each inherited variable of the libraries (NCCL_, RCCL_, HSA_, HIP_, ROCR_,
/// CUDA_, TORCH_, MIOPEN_, PYTORCH_; a hash of a secret one), and size and hash of each argument
/// that is a file, or of the file in OPTION=FILE. Of files above 64 MiB size and time count. A
/// container inherits no variables.
[[nodiscard]] std::map<std::string, std::string> read_run_inputs(const PlannedRun& run);

/// Files below the folder with the endings of traces, relative, sorted.
[[nodiscard]] std::vector<std::string> trace_files_below(const std::string& folder);

/// What of a saved run differs from the run as it would be now: "NCCL_ALGO was 'Ring', is 'Tree'";
/// "" = nothing. A manifest of an older release has no inputs, which then do not count.
[[nodiscard]] std::string difference_to_saved(const SavedRun& saved, const PlannedRun& run);

/// The first trace that the saved run had left and that is gone; "" = none is.
[[nodiscard]] std::string missing_trace(const SavedRun& saved, const PlannedRun& run);

} // namespace rankscope
