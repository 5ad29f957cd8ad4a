// How every JSON that rankscope prints begins.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// The first members of a document, without the brace in front and without a comma behind.
[[nodiscard]] std::string json_head(std::string_view title);

/// Returns a document with the head in front of the members of `object`, which is the text of a
/// JSON object that is not empty.
[[nodiscard]] std::string headed_json(std::string_view title, std::string_view object);
/// The same around a list, which becomes the member `name`.
[[nodiscard]] std::string headed_json_list(std::string_view title, std::string_view name,
                                           std::string_view list);

} // namespace rankscope
