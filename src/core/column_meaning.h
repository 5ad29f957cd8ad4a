// The explanation of a column next to its header, and whether it names the unit of the values.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Returns the column's meaning, with the unit if neither the header nor the meaning names it.
/// Documented headers do not change. "" when both are unknown. Example: "latest end - earliest end;
/// in us".
[[nodiscard]] std::string column_meaning(const Column& column);

/// Returns whether the header or the meaning names the unit of the column's values. The unit is
/// Column::unit, or any known unit if the column has no unit.
[[nodiscard]] bool names_unit(const Column& column);

} // namespace rankscope
