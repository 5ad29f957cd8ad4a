// Converts text to numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace rankscope {

/// Returns the number; empty if `text` is not a number or has characters after it.
template <class Number = std::int64_t>
[[nodiscard]] std::optional<Number> to_number(std::string_view text) {
  Number value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || ec != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace rankscope
