#include "os/output_file.h"

#include "base/invariant.h"
#include "os/cleanup.h"
#include "os/input_file.h"
#include "os/temporary_name.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

Error output_error(const std::string& path, int err) {
  return {ErrorCode::kOutput, path, std::strerror(err),
          err == ENOSPC  ? "free some space and run again"
          : err == EFBIG ? "the file system or ulimit -f allows no larger file"
                         : ""};
}

/// The file that an output replaces, or into which it writes.
struct Target {
  std::string path;     ///< the file to replace
  bool through = false; ///< not a regular file: do not replace it, write into it
};

Result<Target> target_of(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0)
    return Target{path, false}; // does not exist; other errors are reported when the file is opened
  const bool link = S_ISLNK(info.st_mode);
  if (link && ::stat(path.c_str(), &info) != 0) {
    std::filesystem::path at = path; // a dangling link: its target is created
    std::error_code ec;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(at, ec); ++links)
      at = at.parent_path() / std::filesystem::read_symlink(at, ec);
    return Target{at.string(), false};
  }
  if (S_ISDIR(info.st_mode))
    return output_error(path, EISDIR);
  if (S_ISBLK(info.st_mode))
    return Error{ErrorCode::kOutput, path, "is a block device", "choose a file"};
  if (!S_ISREG(info.st_mode))
    return Target{path, true};
  if (!link)
    return Target{path, false};
  // a link to an open descriptor (/dev/fd/3) must be written, because rename cannot replace it
  if (path.rfind("/dev/", 0) == 0 || path.rfind("/proc/", 0) == 0)
    return Target{path, true};
  std::error_code ec;
  const std::filesystem::path real = std::filesystem::canonical(path, ec);
  return ec ? Target{path, true} : Target{real.string(), false};
}

/// Opens an existing file without truncating it; for a pipe, waits for its reader. Returns null
/// with errno on failure.
std::FILE* open_as_it_is(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return fd < 0 ? nullptr : ::fdopen(fd, "wb");
}

/// Copies the bytes of `from` into the existing `to`. Returns 0 or errno.
int copy_into(const std::string& from, const std::string& to) {
  std::FILE* in = std::fopen(from.c_str(), "rbe");
  std::FILE* out = in == nullptr ? nullptr : open_as_it_is(to);
  int error = in == nullptr || out == nullptr ? errno : 0;
  std::array<char, 65536> buffer;
  while (error == 0) {
    const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), in);
    if (n == 0)
      break;
    if (std::fwrite(buffer.data(), 1, n, out) != n)
      error = errno;
  }
  if (in != nullptr)
    std::fclose(in);
  if (out != nullptr && std::fclose(out) != 0 && error == 0)
    error = errno;
  return error;
}

} // namespace

Result<void> refuse_input(const std::string& path) {
  if (!is_input(path))
    return {};
  return Error{ErrorCode::kUsage, path, "is an input of this run, so it is not overwritten",
               "choose another output"};
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile out;
  out.path_ = path;
  if (path == "-" || path == "/dev/stdout") {
    out.file_ = stdout;
    return out;
  }
  RS_TRY(const Target target, target_of(path));
  RS_CHECK(refuse_input(target.path));
  out.target_ = target.path;
  if (target.through) {
    out.file_ = open_as_it_is(path);
    if (out.file_ == nullptr)
      return output_error(path, errno);
    return out;
  }
  const int fd = create_temporary(target.path, out.temp_path_);
  if (fd < 0)
    return output_error(path, errno);
  out.file_ = ::fdopen(fd, "wb");
  if (out.file_ == nullptr) {
    const int err = errno;
    ::close(fd);
    out.discard();
    return output_error(path, err);
  }
  std::setvbuf(out.file_, nullptr, _IOFBF, std::size_t{1} << 18);
  return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), target_(std::move(other.target_)),
      temp_path_(std::move(other.temp_path_)), file_(std::exchange(other.file_, nullptr)),
      error_(other.error_) {
  other.temp_path_.clear();
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temp_path_ = std::move(other.temp_path_);
    other.temp_path_.clear();
    file_ = std::exchange(other.file_, nullptr);
    error_ = other.error_;
  }
  return *this;
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() {
  if (file_ != nullptr && file_ != stdout)
    std::fclose(file_);
  file_ = nullptr;
  if (!temp_path_.empty()) {
    ::unlink(temp_path_.c_str());
    cleanup::remove_path(temp_path_);
    temp_path_.clear();
  }
}

void OutputFile::write(std::string_view bytes) {
  if (error_ != 0 || file_ == nullptr || bytes.empty())
    return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
    error_ = errno != 0 ? errno : EIO;
}

Result<void> OutputFile::commit() {
  RS_ASSERT(file_ != nullptr && "committed once");
  if (file_ == stdout) {
    if (std::fflush(stdout) != 0 && error_ == 0)
      error_ = errno;
    file_ = nullptr;
    if (error_ != 0 && error_ != EPIPE) // EPIPE is not an error: the reader (such as `head`) has
                                        // read enough
      return output_error("standard output", error_);
    return {};
  }
  if (error_ == 0 && std::fflush(file_) != 0)
    error_ = errno;
  if (std::fclose(file_) != 0 && error_ == 0)
    error_ = errno;
  file_ = nullptr;
  if (temp_path_.empty()) { // written directly: EPIPE is not an error here either
    if (error_ != 0 && error_ != EPIPE)
      return output_error(path_, error_);
    return {};
  }
  if (error_ == 0) {
    if (Result<void> free = refuse_input(target_); !free) {
      discard();
      return free;
    }
    if (::rename(temp_path_.c_str(), target_.c_str()) != 0)
      error_ = errno;
  }
  if (error_ != 0) {
    const int err = error_;
    discard();
    return output_error(path_, err);
  }
  cleanup::remove_path(temp_path_);
  temp_path_.clear();
  return {};
}

Result<TempName> TempName::reserve(const std::string& final_path) {
  TempName out;
  RS_TRY(const Target target, target_of(final_path));
  RS_CHECK(refuse_input(target.path));
  out.path_ = final_path;
  out.target_ = target.path;
  out.through_ = target.through;
  std::error_code ec;
  const int fd = create_temporary(
      out.through_ ? (std::filesystem::temp_directory_path(ec) / "rankscope").string()
                   : target.path,
      out.temp_path_);
  if (fd < 0)
    return output_error(final_path, errno);
  ::close(fd);
  return out;
}

TempName::TempName(TempName&& other) noexcept
    : path_(std::move(other.path_)), target_(std::move(other.target_)),
      temp_path_(std::move(other.temp_path_)), through_(other.through_) {
  other.temp_path_.clear();
}

TempName::~TempName() {
  if (!temp_path_.empty()) {
    ::unlink(temp_path_.c_str());
    cleanup::remove_path(temp_path_);
  }
}

Result<void> TempName::commit() {
  RS_ASSERT(!temp_path_.empty() && "committed once");
  RS_CHECK(refuse_input(target_));
  if (through_) {
    if (const int error = copy_into(temp_path_, target_); error != 0)
      return output_error(path_, error);
    ::unlink(temp_path_.c_str());
  } else if (::rename(temp_path_.c_str(), target_.c_str()) != 0) {
    return output_error(path_, errno);
  }
  cleanup::remove_path(temp_path_);
  temp_path_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write(bytes);
  return file.commit();
}

Result<void> make_folder(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec)
    return Error{ErrorCode::kOutput, path, ec.message(), ""};
  return {};
}

} // namespace rankscope
