// Formats tables as aligned text for a terminal.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

struct ConsoleStyle {
  std::size_t max_rows = 20; ///< more rows are only counted
  std::size_t max_text = 48; ///< longer texts are cut, with "..." at the end
  std::size_t width = 0;     ///< terminal width in columns; 0: lines of any length
  bool colour = false;       ///< colour statuses and changes green (better) or red (worse)
};

/// Returns the header and the rows. In a narrow terminal, texts are cut further, down to 12
/// characters; then the columns continue below in parts, each of which repeats the first column.
/// Control characters become blanks.
[[nodiscard]] std::string console_table(const Table& table, const ConsoleStyle& style);
[[nodiscard]] inline std::string console_table(const Table& table, std::size_t max_rows = 20,
                                               std::size_t max_text = 48) {
  return console_table(table, ConsoleStyle{max_rows, max_text, 0, false});
}

} // namespace rankscope
