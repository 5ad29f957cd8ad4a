// Formats tables as aligned text for a terminal.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

struct ConsoleStyle {
  std::size_t max_rows = 20; ///< if there are more rows, only their number is shown
  std::size_t max_text = 48; ///< longer texts are shortened: ".." replaces their middle
  std::size_t width = 0;     ///< terminal width in columns; 0: lines of any length
  bool colour = false;       ///< show improvements green and deteriorations red
};

/// Returns the header and the rows. If the terminal is too narrow, texts are shortened to 12
/// columns at least. If this is not sufficient, the table is split into parts below each other;
/// texts then get as much space as possible without another part. Each part repeats the first
/// column, or the numbers of the rows if rows are equal in the first column. Texts of a column that
/// differ stay different: if necessary, they get more than 12 or `max_text` columns. Control
/// characters become blanks.
[[nodiscard]] std::string console_table(const Table& table, const ConsoleStyle& style);
[[nodiscard]] inline std::string console_table(const Table& table, std::size_t max_rows = 20,
                                               std::size_t max_text = 48) {
  return console_table(table, ConsoleStyle{max_rows, max_text, 0, false});
}

} // namespace rankscope
