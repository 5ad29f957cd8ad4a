// Closes a descriptor that may be closed already.
#pragma once

#include <unistd.h>

namespace rankscope {

/// Closes `fd` if it is open, and sets it to -1.
inline void close_file(int& fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

} // namespace rankscope
