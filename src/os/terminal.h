// Whether standard output is a terminal, how wide it is, and whether it takes colours and UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankscope {

struct Terminal {
  bool is_terminal = false; ///< and no Open MPI launcher is in between
  std::size_t columns = 80; ///< $COLUMNS, else from the terminal, else 80
  std::size_t rows = 0;     ///< from the terminal; 0 = unknown or no terminal
  bool colour = false;      ///< a terminal, $NO_COLOR empty, $TERM not "dumb"
  bool unicode = false;     ///< $LC_ALL, else $LC_CTYPE, else $LANG names UTF-8
};

/// Describes a file descriptor; asks the system at each call, since windows change.
[[nodiscard]] Terminal terminal_of(int descriptor);

/// Returns whether a locale's name has the encoding UTF-8. Examples: "en_US.UTF-8", "C.utf8".
[[nodiscard]] bool names_utf8(std::string_view locale);

} // namespace rankscope
