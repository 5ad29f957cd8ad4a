// Checks and repairs of UTF-8 in the bytes of a trace.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the length of the UTF-8 sequence at text[at], or 0 when it is invalid (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the text with U+FFFD for each byte that is not part of a valid sequence.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

} // namespace rankscope
