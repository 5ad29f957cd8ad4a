#include "collect/samplers/amdsmi_power.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace rankscope {
namespace {

constexpr std::size_t kOldBytes = 68; ///< size of the u32 layouts
constexpr std::size_t kSocket64Limit = 40;

bool touched(const AmdSmiPowerBuffer& answer, std::size_t from, std::size_t to) {
  return std::any_of(answer.begin() + static_cast<std::ptrdiff_t>(from),
                     answer.begin() + static_cast<std::ptrdiff_t>(to),
                     [](std::byte b) { return b != kAmdSmiFill; });
}

template <class Number> Number at(const AmdSmiPowerBuffer& answer, std::size_t offset) {
  Number value = 0;
  std::memcpy(&value, answer.data() + offset, sizeof value);
  return value;
}

std::optional<double> watts(const AmdSmiPowerBuffer& answer, std::size_t offset) {
  const auto value = at<std::uint32_t>(answer, offset);
  // GPUs with 16-bit sensors report 0xffff for "not available"
  if (value == std::numeric_limits<std::uint32_t>::max() || value == 0xffffU || value == 0 ||
      !touched(answer, offset, offset + sizeof value))
    return std::nullopt;
  return value;
}

} // namespace

AmdSmiPowerLayout amdsmi_power_layout(const AmdSmiVersion& version,
                                      const AmdSmiPowerBuffer& answer) {
  if (version.major >= 26)
    return AmdSmiPowerLayout::kSocket64;
  if (version.major == 25) {
    // kSocket64 has data after the end of the older structs, or a limit in their reserved words
    const auto limit = at<std::uint32_t>(answer, kSocket64Limit);
    const bool beyond = touched(answer, kOldBytes, 192);
    const bool field = touched(answer, kSocket64Limit, kSocket64Limit + 4) && limit != 0;
    return beyond || field ? AmdSmiPowerLayout::kSocket64 : AmdSmiPowerLayout::kCurrentAndAverage;
  }
  // versions 5 and below are libraries from before 2023 with another numbering
  return version.major <= 23 ? AmdSmiPowerLayout::kAverageOnly
                             : AmdSmiPowerLayout::kCurrentAndAverage;
}

std::optional<double> amdsmi_power_w(AmdSmiPowerLayout layout, const AmdSmiPowerBuffer& answer) {
  switch (layout) {
  case AmdSmiPowerLayout::kAverageOnly:
    return watts(answer, 0);
  case AmdSmiPowerLayout::kCurrentAndAverage: {
    const auto current = watts(answer, 0);
    return current ? current : watts(answer, 4);
  }
  case AmdSmiPowerLayout::kSocket64: {
    const auto current = watts(answer, 8);
    return current ? current : watts(answer, 12);
  }
  }
  return std::nullopt;
}

} // namespace rankscope
