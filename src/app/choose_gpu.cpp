#include "app/choose_gpu.h"

#include "model/gpu_arch.h"

namespace rankscope {

bool choose_gpu(const Trace& trace, ReportOptions& options) {
  if (options.gpu_arch == "none") {
    options.gpu_arch.clear();
    return false;
  }
  if (!options.gpu_arch.empty() || options.compat_tracelens || trace.header.devices.empty())
    return false;
  const std::string& name = trace.header.devices.front().name;
  for (const DeviceInfo& device : trace.header.devices)
    if (device.name != name)
      return false;
  options.gpu_arch = recognised_gpu(name);
  return !options.gpu_arch.empty();
}

} // namespace rankscope
