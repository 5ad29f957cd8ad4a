// Rows of a CSV text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

using CsvRow = std::vector<std::string>;

/// RFC 4180 with LF, CRLF or CR line ends; the last may be missing. A byte order mark is skipped,
/// and so are blank lines, but for those of a table of one column, which are its blank cells. A
/// quote inside a field that does not begin with one is text.
[[nodiscard]] std::vector<CsvRow> parse_csv(std::string_view text);

} // namespace rankscope
