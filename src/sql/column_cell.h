// Converts cells to the type of their column: a column has one type, but its cells may have others.
// Every reader of a SqlTable converts cells here, so that SQL and Arrow show the same values.
#pragma once

#include "core/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the cell as an integer; empty (NULL) for blank cells, texts, and numbers beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_cell(const Value& value);
/// Returns the cell as a double; empty for blank cells and texts.
[[nodiscard]] std::optional<double> number_cell(const Value& value);
/// Returns the cell as a bool; empty for blank cells.
[[nodiscard]] std::optional<bool> bool_cell(const Value& value);
/// Returns the cell as UTF-8 text; empty for blank cells. The view is into the cell or into
/// `storage`.
[[nodiscard]] std::optional<std::string_view> text_cell(const Value& value, std::string& storage);
/// Returns the cell converted by the function above that matches `type`.
[[nodiscard]] Value typed_cell(const Value& value, CellKind type, std::string& storage);

} // namespace rankscope
