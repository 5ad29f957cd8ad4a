// The number at the beginning of a text, as programs print numbers for people.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rankscope {

struct LeadingNumber {
  double value = 0;
  std::size_t length = 0; ///< length in the text, in bytes
};

/// Reads "14164.25", "1.5e3", "-2", "+7", and "1,234.5" with thousands separators (groups of three
/// digits). Returns empty when `text` does not begin with a finite number.
[[nodiscard]] std::optional<LeadingNumber> leading_number(std::string_view text);

} // namespace rankscope
