// Properties of standard output: whether it is a terminal, its width, and its support for colours
// and UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankscope {

struct Terminal {
  bool is_terminal = false; ///< false below an Open MPI launcher
  std::size_t columns = 80; ///< $COLUMNS, else the terminal's width, else 80
  std::size_t rows = 0;     ///< the terminal's height; 0 = unknown or not a terminal
  bool colour = false;      ///< it is a terminal, $NO_COLOR is empty and $TERM is not "dumb"
  bool unicode = false;     ///< $LC_ALL, else $LC_CTYPE, else $LANG names UTF-8
};

/// Returns the properties of the terminal of a file descriptor. Each call asks the system, because
/// windows change their size.
[[nodiscard]] Terminal terminal_of(int descriptor);

/// Returns whether a locale's name contains the encoding UTF-8. Examples: "en_US.UTF-8", "C.utf8".
[[nodiscard]] bool names_utf8(std::string_view locale);

} // namespace rankscope
