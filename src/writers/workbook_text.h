// Makes texts, sheet names and number formats that are valid in a workbook, and defines the limits
// of the format (31 characters per sheet name, 1,048,576 rows, 32,767 characters per cell).
#pragma once

#include "core/table.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace rankscope {

inline constexpr std::size_t kMaxSheetRows = 1'048'576;
inline constexpr std::size_t kMaxCellText = 32'767;

/// Returns Excel's number format for the decimals of a column or, if not set, for its unit; nullptr
/// = Excel's default. The text is static.
[[nodiscard]] const char* number_format(const Column& column);

/// Returns a valid sheet name that differs from all names in `used`, even if case is ignored.
[[nodiscard]] std::string sheet_name(const std::string& wanted, std::set<std::string>& used);

/// Returns xml_characters() cut to the maximum length of a cell: libxlsxwriter would write other
/// characters and bytes unchanged.
[[nodiscard]] std::string cell_text(std::string_view text);

} // namespace rankscope
