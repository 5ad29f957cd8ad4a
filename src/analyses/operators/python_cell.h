// Texts of Python values as cells.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// A Python repr as a typed cell: numbers as numbers, None blank, texts without quotes. The text
/// must outlive the cell.
[[nodiscard]] Value python_cell(const std::string& repr);

} // namespace rankscope
