#pragma once

#include <unistd.h>

namespace rankscope {

/// Closes `fd` if it is not -1, and sets it to -1.
inline void close_file(int& fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

} // namespace rankscope
