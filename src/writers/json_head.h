// The first members of every JSON document of rankscope.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns the first members of a document, without the opening brace and without a comma at the
/// end.
[[nodiscard]] std::string json_head(std::string_view title);

/// Returns a document: the first members and then the members of `object`, which is the text of a
/// JSON object with at least one member.
[[nodiscard]] std::string headed_json(std::string_view title, std::string_view object);
/// Returns a document: the first members and then the member `name` with the value `list`.
[[nodiscard]] std::string headed_json_list(std::string_view title, std::string_view name,
                                           std::string_view list);

} // namespace rankscope
