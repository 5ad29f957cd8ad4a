#include "os/input_file.h"

#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

using FileId = std::pair<dev_t, ino_t>;

struct InputRegistry {
  std::mutex mutex;
  std::map<FileId, std::string> paths;
};

InputRegistry& input_registry() {
  static InputRegistry all;
  return all;
}

void remember(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode))
    return;
  const std::lock_guard lock(input_registry().mutex);
  input_registry().paths.insert_or_assign({info.st_dev, info.st_ino}, path);
}

/// Returns whether a process writes to the FIFO, has written to it, or begins within two seconds.
bool is_written(int fd) {
  constexpr int kWaitMs = 2000;
  pollfd in{fd, POLLIN, 0};
  if (::poll(&in, 1, kWaitMs) > 0) // there are data, or the writer has closed it
    return true;
  int copy[2] = {-1, -1};
  if (::pipe2(copy, O_CLOEXEC) != 0)
    return false;
  // 0: there is no writer; EAGAIN: the writer has not written yet
  const bool writer = ::tee(fd, copy[1], 1, SPLICE_F_NONBLOCK) != 0;
  ::close(copy[0]);
  ::close(copy[1]);
  return writer;
}

} // namespace

int open_input(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  struct stat info = {};
  if (fd < 0 || ::fstat(fd, &info) != 0)
    return fd;
  if (S_ISFIFO(info.st_mode) && (flags & O_NONBLOCK) == 0 && !is_written(fd)) {
    ::close(fd);
    errno = ENXIO;
    return -1;
  }
  ::fcntl(fd, F_SETFL, flags);
  remember(path, info);
  return fd;
}

void remember_input(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0)
    remember(path, info);
}

bool is_input(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return false;
  const std::lock_guard lock(input_registry().mutex);
  const auto found = input_registry().paths.find({info.st_dev, info.st_ino});
  struct stat input = {}; // the input may be deleted, and its inode number used again for another
                          // file
  return found != input_registry().paths.end() && ::stat(found->second.c_str(), &input) == 0 &&
         input.st_dev == info.st_dev && input.st_ino == info.st_ino;
}

} // namespace rankscope
