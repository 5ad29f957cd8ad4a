// "%XX": how addresses, folders of datasets and commands in logs write bytes that mean something
// there.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// The text with each byte for which `is_plain` is false as "%" and two capital hexadecimal digits.
template <class Predicate>
[[nodiscard]] std::string percent_encoded(std::string_view text, Predicate is_plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(c))
      out += c;
    else
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return out;
}

/// A letter or digit of ASCII, '-', '.' or '_'.
[[nodiscard]] inline bool is_plain_in_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

} // namespace rankscope
