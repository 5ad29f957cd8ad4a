#include "collect/samplers/gpu_metrics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rankscope {
namespace {

/// The header of all tables: size of the table in bytes, and its version.
struct GpuMetricsHeader {
  std::uint16_t size = 0;
  std::uint8_t format = 0, content = 0;
};

/// A table v1.`content` with the counter at byte `energy_at`. `size`: size of the table; 0: any.
/// Two different tables had the version 1.6; the first one was never in a release of the kernel.
struct GpuMetricsLayout {
  std::uint8_t content;
  std::size_t energy_at;
  std::uint16_t size;
};
constexpr std::array<GpuMetricsLayout, 4> kGpuMetricsLayouts = {
    {{4, 24, 0}, {5, 88, 0}, {6, 16, 1664}, {7, 24, 0}}};

} // namespace

std::optional<double> energy_of_gpu_metrics(std::string_view bytes) {
  constexpr double kUnitJ = 1.0 / 65536;
  GpuMetricsHeader header;
  if (bytes.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != 1 || header.size > bytes.size())
    return std::nullopt;
  for (const GpuMetricsLayout& layout : kGpuMetricsLayouts) {
    std::uint64_t count = 0;
    if (layout.content != header.content || (layout.size != 0 && layout.size != header.size) ||
        layout.energy_at + sizeof count > header.size)
      continue;
    std::memcpy(&count, bytes.data() + layout.energy_at, sizeof count);
    if (count != 0 && count != UINT64_MAX)
      return static_cast<double>(count) * kUnitJ;
  }
  return std::nullopt;
}

} // namespace rankscope
