// The description of a column next to its header, and whether it names the unit of the values.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Returns the column's description. The unit is added if neither the header nor the description
/// names it; headers are documented and cannot contain more text. Returns "" if there is no
/// description and no unit to add. Example: "latest end - earliest end; in us".
[[nodiscard]] std::string column_meaning(const Column& column);

/// Returns whether the header or the description names the unit of the column's values:
/// Column::unit or, for a column without a unit, any known unit.
[[nodiscard]] bool names_unit(const Column& column);

} // namespace rankscope
