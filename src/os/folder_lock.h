// Locks a folder, because two commands that write into a folder at the same time would mix their
// files.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>

namespace rankscope {

/// Locks a folder for one process, until this object is destroyed or the process ends.
class FolderLock {
public:
  /// Locks `path`, which is an existing folder or a file; a file is created if necessary. Errors:
  /// kUsage if another process has the lock; the message names `folder` and `user` ("sweep"). If
  /// the file system does not support locks, no error is returned.
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
