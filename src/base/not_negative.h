// Numbers for which a negative value means "unknown".
#pragma once

#include <cstdint>
#include <optional>

namespace rankscope {

/// Returns the number; empty if it is negative.
[[nodiscard]] constexpr std::optional<std::int64_t> not_negative(std::int64_t n) {
  return n < 0 ? std::nullopt : std::optional(n);
}

} // namespace rankscope
