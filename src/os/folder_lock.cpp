#include "os/folder_lock.h"

#include "os/close_file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace rankscope {

Result<FolderLock> FolderLock::take(const std::string& path, const std::string& folder,
                                    const std::string& user) {
  FolderLock out;
  std::error_code ec;
  const int flags = std::filesystem::is_directory(path, ec) ? O_RDONLY | O_DIRECTORY
                                                            : O_RDWR | O_CREAT | O_NOFOLLOW;
  out.fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (out.fd_ >= 0 && ::flock(out.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{ErrorCode::kUsage, folder, "another " + user + " is running in this folder",
                 "wait for its end, or choose another folder"};
  return out;
}

FolderLock::~FolderLock() {
  close_file(fd_);
}

} // namespace rankscope
