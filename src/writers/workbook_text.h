// What the cells of a workbook may hold: texts, names of sheets, formats of numbers, and the limits
// of the format: 31 characters of sheet name, 1,048,576 rows, 32,767 characters a cell.
#pragma once

#include "core/table.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace rankscope {

inline constexpr std::size_t kMaxSheetRows = 1'048'576;
inline constexpr std::size_t kMaxCellText = 32'767;

/// Excel's format by the column's decimals, else by its unit; nullptr = as it comes. Static text.
[[nodiscard]] const char* number_format(const Column& column);

/// A legal sheet name, distinct from those used before without regard to case.
[[nodiscard]] std::string sheet_name(const std::string& wanted, std::set<std::string>& used);

/// Cut to what a cell holds. XML 1.0 has no place for most control characters, libxlsxwriter writes
/// them raw: they become '?'.
[[nodiscard]] std::string cell_text(std::string_view text);

} // namespace rankscope
