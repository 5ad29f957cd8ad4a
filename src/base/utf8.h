// Checks and repairs UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the length of the UTF-8 sequence at text[at], or 0 when it is invalid (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the text with each byte that is not part of a valid sequence replaced by U+FFFD.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

} // namespace rankscope
