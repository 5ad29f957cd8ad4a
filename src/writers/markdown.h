// Tables as GitHub-flavoured Markdown, for pull requests.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Header, rule and rows; bars and line ends in texts are escaped, numbers have the column's
/// decimals (3 without).
[[nodiscard]] std::string markdown_table(const Table& table);

/// One cell's text, escaped.
[[nodiscard]] std::string markdown_escaped(std::string_view text);
/// The text that markdown_escaped() was given, control characters aside.
[[nodiscard]] std::string markdown_unescaped(std::string_view text);

} // namespace rankscope
