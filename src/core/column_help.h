// Descriptions of columns that several sheets have.
#pragma once

#include <string_view>

namespace rankscope {

/// Returns the description for a documented header. Returns "" if only one sheet has the column:
/// then its schema contains the description.
[[nodiscard]] std::string_view shared_column_help(std::string_view label);

} // namespace rankscope
