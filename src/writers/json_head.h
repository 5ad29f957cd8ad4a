// The head that every JSON document of rankscope has.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns the first members of a document, without the opening brace and the last comma.
[[nodiscard]] std::string json_head(std::string_view title);

/// Returns a document: the head, then the members of `object`, which is the text of a JSON object
/// with at least one member.
[[nodiscard]] std::string headed_json(std::string_view title, std::string_view object);
/// Returns a document: the head, then `list` as the member `name`.
[[nodiscard]] std::string headed_json_list(std::string_view title, std::string_view name,
                                           std::string_view list);

} // namespace rankscope
