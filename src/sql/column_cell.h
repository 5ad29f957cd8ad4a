// Converts cells to the type of their column, because a column has one type but its cells may have
// others. All code that reads a SqlTable uses these functions, so SQL and Arrow show the same
// values.
#pragma once

#include "core/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the cell as an integer; empty (NULL) for blank cells, for texts, and for numbers that do
/// not fit in 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_cell(const Value& value);
/// Returns the cell as a double; empty for blank cells and texts.
[[nodiscard]] std::optional<double> number_cell(const Value& value);
/// Returns the cell as a bool; empty for blank cells.
[[nodiscard]] std::optional<bool> bool_cell(const Value& value);
/// Returns the cell as UTF-8 text; empty for blank cells. The view is valid as long as the cell and
/// `storage`.
[[nodiscard]] std::optional<std::string_view> text_cell(const Value& value, std::string& storage);
/// Calls the function above that belongs to `type`.
[[nodiscard]] Value typed_cell(const Value& value, CellKind type, std::string& storage);

} // namespace rankscope
