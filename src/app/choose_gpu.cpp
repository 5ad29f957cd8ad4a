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
  const DeviceInfo& first = trace.header.devices.front();
  for (const DeviceInfo& device : trace.header.devices)
    if (device.name != first.name || device.multiprocessors != first.multiprocessors)
      return false;
  options.gpu_arch = recognised_gpu(first.name, first.multiprocessors);
  return !options.gpu_arch.empty();
}

} // namespace rankscope
