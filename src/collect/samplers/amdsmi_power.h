// Power readings of libamd_smi. Their struct has the same name in every release, but grew from
// release to release.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rankscope {

/// Version of libamd_smi. Versions up to 24.x (ROCm 6.3) are year, major, minor, release; versions
/// from 25 on (ROCm 6.4) are major, minor, release.
struct AmdSmiVersion {
  std::uint32_t major = 0; ///< the year in versions up to 24.x
  std::uint32_t minor = 0;
};

/// The buffer for amdsmi_get_power_info, larger than any layout. It is filled with kAmdSmiFill
/// before the call.
using AmdSmiPowerBuffer = std::array<std::byte, 512>;
inline constexpr std::byte kAmdSmiFill{0xa5};

enum class AmdSmiPowerLayout : std::uint8_t {
  kAverageOnly,       ///< up to 23 (ROCm 5): average, voltages... as u32
  kCurrentAndAverage, ///< 24 (ROCm 6.0 to 6.3): current, average, voltages... as u32
  kSocket64,          ///< 26 and newer (ROCm 7): u64 socket, u32 current, u32 average, u64 voltages
};

/// Returns the layout that the library wrote. The version determines the layout, except for version
/// 25: its releases differ, so the bytes that were written determine the layout.
[[nodiscard]] AmdSmiPowerLayout amdsmi_power_layout(const AmdSmiVersion& version,
                                                    const AmdSmiPowerBuffer& answer);

/// Returns watts: the current power, else the average. Empty if the library reports UINT32_MAX (not
/// supported), did not write the field, or gives 0 for both.
[[nodiscard]] std::optional<double> amdsmi_power_w(AmdSmiPowerLayout layout,
                                                   const AmdSmiPowerBuffer& answer);

} // namespace rankscope
