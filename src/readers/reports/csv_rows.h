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
  /// The number of records that were omitted because a quote is not closed or because the text ends
  /// within the last record. The first record is never omitted.
  std::uint64_t torn = 0;
};

/// Parses records as base/csv.h does. If the text contains no LF, lines end with CR. A byte order
/// mark and blank lines are skipped; but in a table with one column, a blank line is a blank cell.
/// `cells_left` is the number of cells that are allowed; the number of cells that were read is
/// subtracted. Errors: kUnreadable if the text has more cells.
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text, std::uint64_t& cells_left);
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text);

/// The maximum number of cells in all tables of one report, including blank cells. The largest
/// known reports have a million.
inline constexpr std::uint64_t kMostReportCells = 6'000'000;
inline constexpr const char* kTooManyCells = "has more cells than a report can contain";

} // namespace rankscope
