// Converts the number by which AMD's libraries identify a PCI device.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace rankscope {

/// Returns the PCI address of `id`: domain in bits 63-32, bus in 15-8, device in 7-3, function in
/// 2-0 (bits 31-28 are a partition). Example: 0xc100 is 0000:c1:00.0.
[[nodiscard]] inline std::string pci_address(std::uint64_t id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", id >> 32, id >> 8 & 0xffU, id >> 3 & 0x1fU,
                     id & 0x7U);
}

} // namespace rankscope
