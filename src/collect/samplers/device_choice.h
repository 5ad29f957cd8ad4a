// Resolves `--devices` to GPUs.
#pragma once

#include "base/result.h"
#include "collect/samplers/gpu_backend.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct GpuChoice {
  std::vector<std::size_t> gpus; ///< positions in the list, in the order asked for, each once
  bool all = false;              ///< no GPU was named
  std::vector<std::string> notes;
};

/// Chooses GPUs by `text`: all; visible (by `visible`, the value of *_VISIBLE_DEVICES); or a list
/// separated by commas of indices, ranges (0-3), uuids or unique beginnings of uuids, PCI addresses
/// with or without domain. Errors: kUsage with the list of GPUs.
Result<GpuChoice> choose_gpus(std::span<const GpuIdentity> gpus, std::string_view text,
                              const std::string& visible);

/// Returns the GPUs of the power columns: for each package, once, the GPU that has its sensor. A
/// named die without a sensor is replaced by the die that measures for it; `notes` mentions it.
[[nodiscard]] std::vector<std::size_t> power_columns(std::span<const GpuIdentity> gpus,
                                                     const GpuChoice& choice,
                                                     std::vector<std::string>& notes);

/// Returns the value of the first variable that is set: ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES,
/// CUDA_VISIBLE_DEVICES, GPU_DEVICE_ORDINAL; "" = none is set.
[[nodiscard]] std::string visible_devices(const std::map<std::string, std::string>& environment);

} // namespace rankscope
