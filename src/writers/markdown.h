// Formats tables as GitHub-flavoured Markdown, for pull requests.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Returns header, rule and rows. Bars and line ends in texts are escaped. Numbers have the
/// decimals of their column (3 if it has no setting).
[[nodiscard]] std::string markdown_table(const Table& table);

/// Returns the text of one cell, escaped.
[[nodiscard]] std::string markdown_escaped(std::string_view text);
/// Returns the original of a text from markdown_escaped(), except for control characters.
[[nodiscard]] std::string markdown_unescaped(std::string_view text);

} // namespace rankscope
