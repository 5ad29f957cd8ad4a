#include "collect/samplers/sample_file.h"

#include "base/time_text.h"
#include "os/output_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace rankscope {

Result<SampleFile> SampleFile::create(const std::string& path, std::string_view header) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty())
    RS_CHECK(make_folder(folder.string()));
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0)
    return Error{ErrorCode::kOutput, path, fmt::format("cannot be written: {}", strerror(errno)),
                 ""};
  SampleFile file(path, fd);
  file.append(header);
  RS_CHECK(file.problem());
  return file;
}

SampleFile::SampleFile(SampleFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_),
      error_(other.error_) {}

SampleFile::~SampleFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

void SampleFile::append(std::string_view rows) {
  std::size_t written = 0;
  while (error_ == 0 && written < rows.size()) {
    const ssize_t n = ::write(fd_, rows.data() + written, rows.size() - written);
    if (n > 0)
      written += static_cast<std::size_t>(n);
    else if (n < 0 && errno != EINTR)
      error_ = errno;
  }
  if (error_ != 0 && written > 0) {
    // a full disk stores the part of a row that still fits; only complete rows stay in the file
    const std::size_t line_end = rows.substr(0, written).rfind('\n');
    const std::size_t complete = line_end == std::string_view::npos ? 0 : line_end + 1;
    [[maybe_unused]] const int cut = ::ftruncate(fd_, size_ + static_cast<off_t>(complete));
    written = complete;
  }
  size_ += static_cast<off_t>(written);
}

Result<void> SampleFile::problem() const {
  if (error_ == 0)
    return {};
  return Error{ErrorCode::kOutput, path_, fmt::format("cannot be written: {}", strerror(error_)),
               ""};
}

void add_cell(std::string& row, const std::optional<double>& value, int decimals) {
  if (value)
    fmt::format_to(std::back_inserter(row), "{:.{}f}", *value, decimals);
}

void add_cell(std::string& row, const std::optional<std::int64_t>& value) {
  if (value)
    fmt::format_to(std::back_inserter(row), "{}", *value);
}

std::string local_time(std::int64_t unix_ns) {
  return fmt::format(
      "{}.{:06}",
      local_text(std::chrono::system_clock::time_point(std::chrono::nanoseconds(unix_ns)),
                 "%Y-%m-%d %H:%M:%S"),
      unix_ns % 1'000'000'000 / 1000);
}

} // namespace rankscope
