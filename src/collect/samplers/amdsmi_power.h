// libamd_smi's answer about power: the struct grew from release to release under one name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rankscope {

/// Version of libamd_smi. Up to 24.x (ROCm 6.3) it counts by year: year, major, minor, release;
/// from 25 (ROCm 6.4) on major, minor, release.
struct AmdSmiVersion {
  std::uint32_t major = 0; ///< the year of the older ones
  std::uint32_t minor = 0;
};

/// The buffer for amdsmi_get_power_info: larger than any layout, filled with kAmdSmiFill before.
using AmdSmiPowerBuffer = std::array<std::byte, 512>;
inline constexpr std::byte kAmdSmiFill{0xa5};

enum class AmdSmiPowerLayout : std::uint8_t {
  kAverageOnly,       ///< up to 23 (ROCm 5): average, voltages... as u32
  kCurrentAndAverage, ///< 24 (ROCm 6.0 to 6.3): current, average, voltages... as u32
  kSocket64,          ///< 26 and newer (ROCm 7): u64 socket, u32 current, u32 average, u64 voltages
};

/// Which layout was written: by the version, and for 25, whose releases differ, by the bytes that
/// were touched.
[[nodiscard]] AmdSmiPowerLayout amdsmi_power_layout(const AmdSmiVersion& version,
                                                    const AmdSmiPowerBuffer& answer);

/// Watts: the current power, else the average; none where the library says UINT32_MAX (not
/// supported), left the field alone, or gives 0 for both.
[[nodiscard]] std::optional<double> amdsmi_power_w(AmdSmiPowerLayout layout,
                                                   const AmdSmiPowerBuffer& answer);

} // namespace rankscope
