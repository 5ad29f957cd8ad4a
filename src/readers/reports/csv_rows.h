// Rows of a CSV text.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

using CsvRow = std::vector<std::string>;

/// Records of base/csv.h, of a text without line feeds with CR line ends. A byte order mark is
/// skipped, and so are blank lines, but for those of a table of one column, which are its blank
/// cells. A torn record is a row of its line's fields as they are. `cells_left` is what a table may
/// have, and is lowered by what this one has. Errors: kUnreadable when it has more.
[[nodiscard]] Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                                    std::uint64_t& cells_left);
[[nodiscard]] Result<std::vector<CsvRow>> parse_csv(std::string_view text);

/// Cells of the tables of one report, blank ones included; the largest reports have a million.
inline constexpr std::uint64_t kMostReportCells = 6'000'000;
inline constexpr const char* kTooManyCells = "has more cells than a report can hold";

} // namespace rankscope
