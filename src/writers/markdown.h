// Formats tables as GitHub-flavoured Markdown, for pull requests.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Returns the header, the separator and the rows. Vertical bars and line ends in texts are
/// escaped. Numbers have the decimals of their column (3 if it does not set them).
[[nodiscard]] std::string markdown_table(const Table& table);

/// Returns the text of one cell, escaped.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

} // namespace rankscope
