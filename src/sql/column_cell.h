// Cells by the type of their column: a column has one type, its cells may have others. Every
// reader of a SqlTable converts them here, so that SQL and Arrow show the same values.
#pragma once

#include "core/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Empty (NULL) for blank cells, texts, and numbers beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_cell(const Value& value);
/// Empty for blank cells and texts.
[[nodiscard]] std::optional<double> number_cell(const Value& value);
/// Empty for blank cells.
[[nodiscard]] std::optional<bool> bool_cell(const Value& value);
/// UTF-8; empty for blank cells. The text is that of the cell, or `storage`.
[[nodiscard]] std::optional<std::string_view> text_cell(const Value& value, std::string& storage);
/// The one of these that the type of a column asks for.
[[nodiscard]] Value typed_cell(const Value& value, CellKind type, std::string& storage);

} // namespace rankscope
