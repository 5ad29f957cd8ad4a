// Percent encoding ("%XX") of bytes that have a special meaning in URLs, dataset folder names, or
// commands in logs.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns the text in which each byte for which `is_plain` is false is replaced by "%" and two
/// capital hexadecimal digits.
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

/// Returns whether `c` is an ASCII letter or digit, '-', '.' or '_'.
[[nodiscard]] inline bool is_plain_in_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

} // namespace rankscope
