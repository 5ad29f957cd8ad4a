// Formats tables as aligned text for a terminal.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

struct ConsoleStyle {
  std::size_t max_rows = 20; ///< if there are more rows, only their number is shown
  std::size_t max_text = 48; ///< longer texts are cut, and end with "..."
  std::size_t width = 0;     ///< terminal width in columns; 0: lines of any length
  bool colour = false;       ///< show improvements green and deteriorations red
};

/// Returns the header and the rows. If the terminal is too narrow, texts are cut to 12 characters
/// at least. If this is not sufficient, the table is split into parts below each other; each part
/// repeats the first column. Control characters become blanks.
[[nodiscard]] std::string console_table(const Table& table, const ConsoleStyle& style);
[[nodiscard]] inline std::string console_table(const Table& table, std::size_t max_rows = 20,
                                               std::size_t max_text = 48) {
  return console_table(table, ConsoleStyle{max_rows, max_text, 0, false});
}

} // namespace rankscope
