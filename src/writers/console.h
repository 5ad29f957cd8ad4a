// Tables as aligned text for a terminal.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Header and at most `max_rows` rows; texts longer than `max_text` characters are cut with "...".
/// Control characters become blanks.
[[nodiscard]] std::string console_table(const Table& table, std::size_t max_rows = 20,
                                        std::size_t max_text = 48);

} // namespace rankscope
