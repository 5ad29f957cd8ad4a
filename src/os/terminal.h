// What standard output is: a terminal, how wide, whether it takes colours and UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace rankscope {

struct Terminal {
  bool is_terminal = false; ///< and no launcher of Open MPI stands between
  std::size_t columns = 80; ///< $COLUMNS, else as the terminal says, else 80
  std::size_t rows = 0;     ///< as the terminal says; 0 = it does not, or there is none
  bool colour = false;      ///< a terminal, $NO_COLOR empty, $TERM not "dumb"
  bool unicode = false;     ///< $LC_ALL, else $LC_CTYPE, else $LANG names UTF-8
};

/// Of a file descriptor, asked anew at each call: windows change.
[[nodiscard]] Terminal terminal_of(int descriptor);

/// Whether a locale's name has the encoding UTF-8. Examples: "en_US.UTF-8", "C.utf8".
[[nodiscard]] bool names_utf8(std::string_view locale);

} // namespace rankscope
