// What a reader of a column is told beside its header, and whether that names the unit of its
// figures.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// The column's meaning, and its unit where neither the header nor the meaning names it: documented
/// headers stay as they are. "" when nothing is known. Example: "latest end - earliest end; in us".
[[nodiscard]] std::string column_meaning(const Column& column);

/// Whether the header or the meaning names the unit of the column's figures: Column::unit, or any
/// known one where the column does not say which.
[[nodiscard]] bool names_unit(const Column& column);

} // namespace rankscope
