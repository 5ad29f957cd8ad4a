// JSON string escaping for writers that format by themselves.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `text` with quotes, backslashes and control characters escaped. Bytes that are not UTF-8
/// become U+FFFD, so that the result is always a valid JSON string body.
[[nodiscard]] std::string json_escaped(std::string_view text);

/// Returns true when `text` is a JSON list of numbers, strings without escapes, or such lists. Such
/// a text can be copied into JSON unchanged. Stricter than JSON: true, null and objects are
/// rejected.
[[nodiscard]] bool is_plain_json_list(std::string_view text);

} // namespace rankscope
