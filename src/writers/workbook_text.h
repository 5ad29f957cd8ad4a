// Valid content of a workbook: texts, names of sheets, formats of numbers, and the limits of the
// format: 31 characters of sheet name, 1,048,576 rows, 32,767 characters per cell.
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

/// Returns the text cut to the limit of a cell. Most control characters become '?': XML 1.0 does
/// not allow them, and libxlsxwriter would write them raw.
[[nodiscard]] std::string cell_text(std::string_view text);

} // namespace rankscope
