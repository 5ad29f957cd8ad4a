// Checks and repairs UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// The bytes with which some editors begin a UTF-8 file.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Returns the text after a byte order mark at its beginning.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// Returns the length of the UTF-8 sequence at text[at], or 0 when it is invalid (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the text with each byte that is not part of a valid sequence replaced by U+FFFD.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

} // namespace rankscope
