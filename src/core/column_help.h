// Meanings of columns that stand in several sheets, said once.
#pragma once

#include <string_view>

namespace rankscope {

/// By documented header; "" for a column that only one sheet has (its schema says what it means).
[[nodiscard]] std::string_view shared_column_help(std::string_view label);

} // namespace rankscope
