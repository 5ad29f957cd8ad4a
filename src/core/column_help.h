// Meanings of columns that several sheets share.
#pragma once

#include <string_view>

namespace rankscope {

/// Returns the meaning for a documented header. "" for a column of a single sheet: its schema has
/// the meaning.
[[nodiscard]] std::string_view shared_column_help(std::string_view label);

} // namespace rankscope
