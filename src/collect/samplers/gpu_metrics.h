// The energy counter in amdgpu's file device/gpu_metrics, a binary table of the firmware.
#pragma once

#include <optional>
#include <string_view>

namespace rankscope {

/// Returns the value of the counter in J, from the bytes of the file. Reads the tables v1.4 to v1.7
/// (MI300 series), in which the counter has units of 2^-16 J. Layouts: struct gpu_metrics_v1_* in
/// the kernel's drivers/gpu/drm/amd/include/kgd_pp_interface.h. Empty for other tables (the unit of
/// the counter in v1.1 to v1.3 depends on the GPU), for a truncated table, and if the firmware does
/// not set the counter.
[[nodiscard]] std::optional<double> energy_of_gpu_metrics(std::string_view bytes);

} // namespace rankscope
