// Locks a folder: two commands that write into it at the same time would mix their files.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace rankscope {

/// Locks a folder for one process, until this object is destroyed or the process ends.
class FolderLock {
public:
  /// Locks `path`: an existing folder, or a file, which is created. Errors: kUsage when another
  /// process has the lock; the message names `folder` and `user` ("sweep"). On a file system
  /// without locks, the folder counts as unlocked.
  static Result<FolderLock> take(const std::string& path, const std::string& folder,
                                 const std::string& user);
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

private:
  FolderLock() = default;
  int fd_ = -1;
};

} // namespace rankscope
