// Rows of a CSV text.
#pragma once

#include <string>
#include <vector>

namespace rankscope {

using CsvRow = std::vector<std::string>;

/// RFC 4180 with LF or CRLF line ends; a byte order mark and blank lines are skipped.
[[nodiscard]] std::vector<CsvRow> parse_csv(const std::string& text);

} // namespace rankscope
