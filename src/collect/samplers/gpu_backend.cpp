#include "collect/samplers/gpu_backend.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace rankscope {
namespace {

using Opened = Result<std::unique_ptr<GpuBackend>>;

/// The GPU before `die` that measures for it on a board of two, or none.
std::optional<std::size_t> sensor_before(const std::vector<GpuIdentity>& gpus, std::size_t die,
                                         const std::set<std::size_t>& taken) {
  for (std::size_t i = die; i-- > 0;)
    if (gpus[i].power_sensor)
      return gpus[i].two_dies && taken.count(i) == 0 ? std::optional<std::size_t>(i) : std::nullopt;
  return std::nullopt;
}

std::optional<std::size_t> same_package(const std::vector<GpuIdentity>& gpus, std::size_t die) {
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (i != die && gpus[i].power_sensor && !gpus[i].uuid.empty() && gpus[i].uuid == gpus[die].uuid)
      return i;
  return std::nullopt;
}

struct Source {
  GpuSource source;
  std::string library; ///< override
  Opened (*open)(const std::string& where);
};

std::vector<Source> sources(const GpuBackendOptions& o) {
  return {{GpuSource::kSysfs, o.sysfs_root, open_sysfs_backend},
          {GpuSource::kAmdSmi, o.amdsmi, open_amdsmi_backend},
          {GpuSource::kRocmSmi, o.rocm_smi, open_rocm_smi_backend},
          {GpuSource::kNvml, o.nvml, open_nvml_backend}};
}

bool reads_power(GpuBackend& backend) {
  for (std::size_t i = 0; i < backend.gpus().size(); ++i)
    if (backend.read(i).power_w)
      return true;
  return false;
}

} // namespace

void pair_dies(std::vector<GpuIdentity>& gpus) {
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].package = gpus[i].index;
    if (gpus[i].power_sensor)
      continue;
    std::optional<std::size_t> primary = same_package(gpus, i);
    if (!primary && gpus[i].two_dies) {
      primary = sensor_before(gpus, i, taken);
      if (primary)
        taken.insert(*primary);
    }
    if (primary)
      gpus[i].package = gpus[*primary].index;
  }
}

Opened open_gpu_backend(const GpuBackendOptions& options) {
  const bool simulated = options.sysfs_root != "/sys";
  std::string tried;
  std::unique_ptr<GpuBackend> without_power;
  for (const Source& s : sources(options)) {
    if (options.source != GpuSource::kAuto && options.source != s.source)
      continue;
    // an imitated tree stands for the whole machine, so that a library may not add the real one
    if (options.source == GpuSource::kAuto && simulated && s.library.empty())
      continue;
    Opened opened = s.open(s.library);
    if (!opened) {
      tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", opened.error().where,
                           opened.error().what);
      continue;
    }
    if (options.source != GpuSource::kAuto || reads_power(**opened))
      return opened;
    if (!without_power)
      without_power = std::move(*opened);
  }
  if (without_power)
    return without_power;
  return Error{ErrorCode::kMissingTool, "GPUs", fmt::format("none can be read ({})", tried),
               "--devices none samples the host alone"};
}

} // namespace rankscope
