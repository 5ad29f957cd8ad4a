// Rows of a CSV text.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

using CsvRow = std::vector<std::string>;

/// The rows of a CSV text.
struct CsvRows {
  std::vector<CsvRow> rows;
  /// Records behind the first that were left out: a quote is not closed, or the text ends within
  /// the last record.
  std::uint64_t torn = 0;
};

/// Records of base/csv.h, of a text without line feeds with CR line ends. A byte order mark is
/// skipped, and so are blank lines, but for those of a table of one column, which are its blank
/// cells. `cells_left` is what a table may have, and is lowered by what this one has. Errors:
/// kUnreadable when it has more.
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text, std::uint64_t& cells_left);
[[nodiscard]] Result<CsvRows> parse_csv(std::string_view text);

/// Cells of the tables of one report, blank ones included; the largest reports have a million.
inline constexpr std::uint64_t kMostReportCells = 6'000'000;
inline constexpr const char* kTooManyCells = "has more cells than a report can hold";

} // namespace rankscope
