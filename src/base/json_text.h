// Escapes JSON strings, for writers that do not use JsonWriter.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `text` with quotes, backslashes and control characters escaped. Bytes that are not UTF-8
/// become U+FFFD, so the result is always valid between the quotes of a JSON string.
[[nodiscard]] std::string json_escaped(std::string_view text);

/// Returns true if `text` is a JSON list whose elements are numbers, strings without escapes, or
/// such lists. Such a text can be copied into JSON unchanged. The check is stricter than JSON:
/// true, null and objects are rejected.
[[nodiscard]] bool is_plain_json_list(std::string_view text);

} // namespace rankscope
