// Base64 (RFC 4648), for bytes inside HTML.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns padded Base64 without line ends. Example: "Ma" becomes "TWE=".
[[nodiscard]] std::string base64(std::string_view bytes);

} // namespace rankscope
