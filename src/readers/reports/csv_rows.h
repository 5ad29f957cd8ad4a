// Parses the rows of a CSV text.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

using CsvRow = std::vector<std::string>;

/// The rows of a CSV text, and the number of omitted rows.
struct CsvRows {
  std::vector<CsvRow> rows;
  /// The number of records after the first that were omitted because a quote is not closed or the
  /// text ends within the last record.
  std::uint64_t torn = 0;
};

/// Parses records as in base/csv.h. A text without line feeds has CR line ends. Skips a byte order
/// mark and blank lines; in a table of one column, blank lines are blank cells. `cells_left` is the
/// number of cells allowed, and is reduced by the cells read. Errors: kUnreadable when the text has
/// more cells.
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text, std::uint64_t& cells_left);
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text);

/// The maximum number of cells in the tables of one report, including blank cells. The largest
/// reports have a million.
inline constexpr std::uint64_t kMostReportCells = 6'000'000;
inline constexpr const char* kTooManyCells = "has more cells than a report can contain";

} // namespace rankscope
