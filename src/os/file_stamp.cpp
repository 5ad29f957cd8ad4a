#include "os/file_stamp.h"
#include "os/clock.h"

#include <sys/stat.h>

namespace rankscope {

std::optional<FileStamp> file_stamp(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return std::nullopt;
  return FileStamp{static_cast<std::uint64_t>(info.st_size), ns_of(info.st_mtim)};
}

} // namespace rankscope
