// One way to close a descriptor that may be closed.
#pragma once

#include <unistd.h>

namespace rankscope {

/// Closes a descriptor that is open, and notes that it is not.
inline void close_file(int& fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

} // namespace rankscope
