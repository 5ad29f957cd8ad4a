// Whether bytes of a trace are UTF-8, and what to do where they are not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// Length of the UTF-8 sequence at text[at], 0 when it is not one (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);

/// With U+FFFD for each byte that belongs to no sequence.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

} // namespace rankscope
