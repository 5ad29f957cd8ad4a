// The number that a text begins with, as programs print it for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rankscope {

struct LeadingNumber {
  double value = 0;
  std::size_t length = 0; ///< bytes of the text
};

/// Reads "14164.25", "1.5e3", "-2", "+7", and with separators of thousands "1,234.5" (groups of
/// three digits). None when `text` does not begin with a finite number.
[[nodiscard]] std::optional<LeadingNumber> leading_number(std::string_view text);

} // namespace rankscope
