// Base64 (RFC 4648), for bytes inside HTML.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Padded, without line ends. Example: "Ma" is "TWE=".
[[nodiscard]] std::string base64(std::string_view bytes);

} // namespace rankscope
