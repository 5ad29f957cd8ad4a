// Tables as aligned text for a terminal.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

struct ConsoleStyle {
  std::size_t max_rows = 20; ///< the others are counted
  std::size_t max_text = 48; ///< longer texts are cut with "..."
  std::size_t width = 0;     ///< columns of the terminal; 0: lines of any length
  bool colour = false;       ///< statuses and changes green (better) or red (worse)
};

/// Returns header and rows. In a narrow terminal, texts are cut further, down to 12 characters;
/// then the columns continue below, each part with the first column again. Control characters
/// become blanks.
[[nodiscard]] std::string console_table(const Table& table, const ConsoleStyle& style);
[[nodiscard]] inline std::string console_table(const Table& table, std::size_t max_rows = 20,
                                               std::size_t max_text = 48) {
  return console_table(table, ConsoleStyle{max_rows, max_text, 0, false});
}

} // namespace rankscope
