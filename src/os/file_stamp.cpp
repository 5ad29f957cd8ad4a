#include "os/file_stamp.h"

#include <sys/stat.h>

namespace rankscope {

std::optional<FileStamp> file_stamp(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return std::nullopt;
  return FileStamp{static_cast<std::uint64_t>(info.st_size),
                   std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

} // namespace rankscope
