#include "os/whole_file.h"

#include "os/input_file.h"
#include "os/output_file.h"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope {
namespace {

/// Size limits. Parts and states of the largest runs have some 100 MB. A file that is not regular
/// is either a pipe with a few lines or an endless device.
constexpr std::size_t kMostFileBytes = std::size_t{4} << 30U;
constexpr std::size_t kMostPipeBytes = std::size_t{64} << 20U;

/// Returns all bytes of `fd` and closes it. If `fd` is -1, returns the error of opening it.
Result<std::string> bytes_of_descriptor(int fd, const std::string& path, const std::string& hint) {
  const auto unreadable = [&](const char* why) {
    return Error{ErrorCode::kUnreadable, path, why, hint};
  };
  if (fd < 0)
    return unreadable("cannot read this file");
  struct stat info = {};
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const std::size_t most = regular ? kMostFileBytes : kMostPipeBytes;
  const bool too_large = regular && static_cast<std::size_t>(info.st_size) > most;
  constexpr std::size_t kBlock = std::size_t{1} << 16U;
  std::string bytes;
  std::size_t have = 0;
  ssize_t got = 0;
  while (!too_large && have <= most) {
    bytes.resize(have + kBlock);
    do
      got = ::read(fd, bytes.data() + have, kBlock);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
      break;
    have += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (got < 0)
    return unreadable("cannot read this file");
  if (too_large || have > most)
    return unreadable(regular ? "has more than 4 GiB" : "has more than 64 MiB and is not a file");
  bytes.resize(have);
  return bytes;
}

} // namespace

Result<std::string> read_input_file(const std::string& path, const std::string& hint) {
  return bytes_of_descriptor(open_input(path), path, hint);
}

Result<std::string> read_unregistered(const std::string& path, const std::string& hint) {
  return bytes_of_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, hint);
}

Result<void> write_with_folder(const std::string& path, std::string_view bytes) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty())
    RS_CHECK(make_folder(folder));
  return write_file(path, bytes);
}

} // namespace rankscope
