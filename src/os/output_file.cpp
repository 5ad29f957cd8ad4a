#include "os/output_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

// The signal handler may not allocate or lock, so the open temporaries live in fixed slots.
constexpr std::size_t kSlots = 512;
constexpr std::size_t kPathMax = 1024;
struct Slot {
  std::atomic<int> state{0}; // 0 free, 1 being filled, 2 holds a path
  char path[kPathMax];
};
std::array<Slot, kSlots> slots;
std::atomic<unsigned> serial{0};

void remember(const std::string& path) {
  if (path.size() + 1 > kPathMax)
    return;
  for (Slot& s : slots) {
    int expected = 0;
    if (s.state.compare_exchange_strong(expected, 1)) {
      std::memcpy(s.path, path.c_str(), path.size() + 1);
      s.state = 2;
      return;
    }
  }
}

void forget(const std::string& path) {
  for (Slot& s : slots)
    if (s.state == 2 && path == s.path)
      s.state = 0;
}

std::string temp_name(const std::string& path) {
  return fmt::format("{}.{}-{}.tmp", path, ::getpid(), serial++);
}

Error output_error(const std::string& path, int err) {
  return {ErrorCode::kOutput, path, std::strerror(err),
          err == ENOSPC ? "free some space and run again" : ""};
}

extern "C" void on_interrupt(int) {
  remove_open_temporaries();
  const char text[] = "\nrankscope: interrupted; unfinished outputs were removed\n";
  [[maybe_unused]] const auto n = ::write(2, text, sizeof text - 1);
  ::_exit(130);
}

} // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile out;
  out.path_ = path;
  if (path == "-") {
    out.file_ = stdout;
    return out;
  }
  if (std::filesystem::is_directory(path))
    return output_error(path, EISDIR);
  out.temp_path_ = temp_name(path);
  remember(out.temp_path_);
  out.file_ = std::fopen(out.temp_path_.c_str(), "wbe");
  if (out.file_ == nullptr) {
    const int err = errno;
    forget(out.temp_path_);
    out.temp_path_.clear();
    return output_error(path, err);
  }
  std::setvbuf(out.file_, nullptr, _IOFBF, std::size_t{1} << 18);
  return out;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), temp_path_(std::move(other.temp_path_)),
      file_(std::exchange(other.file_, nullptr)), error_(other.error_) {
  other.temp_path_.clear();
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
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
    forget(temp_path_);
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
  if (file_ == nullptr)
    return output_error(path_, EBADF);
  if (file_ == stdout) {
    if (std::fflush(stdout) != 0 && error_ == 0)
      error_ = errno;
    file_ = nullptr;
    if (error_ != 0)
      return output_error("standard output", error_);
    return {};
  }
  if (error_ == 0 && std::fflush(file_) != 0)
    error_ = errno;
  if (std::fclose(file_) != 0 && error_ == 0)
    error_ = errno;
  file_ = nullptr;
  if (error_ == 0 && ::rename(temp_path_.c_str(), path_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0) {
    const int err = error_;
    discard();
    return output_error(path_, err);
  }
  forget(temp_path_);
  temp_path_.clear();
  return {};
}

Result<TempName> TempName::reserve(const std::string& final_path) {
  TempName out;
  out.path_ = final_path;
  out.temp_path_ = temp_name(final_path);
  const int fd = ::open(out.temp_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int err = errno;
    out.temp_path_.clear();
    return output_error(final_path, err);
  }
  ::close(fd);
  remember(out.temp_path_);
  return out;
}

TempName::TempName(TempName&& other) noexcept
    : path_(std::move(other.path_)), temp_path_(std::move(other.temp_path_)) {
  other.temp_path_.clear();
}

TempName::~TempName() {
  if (!temp_path_.empty()) {
    ::unlink(temp_path_.c_str());
    forget(temp_path_);
  }
}

Result<void> TempName::commit() {
  if (::rename(temp_path_.c_str(), path_.c_str()) != 0)
    return output_error(path_, errno);
  forget(temp_path_);
  temp_path_.clear();
  return {};
}

Result<void> make_folder(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec)
    return Error{ErrorCode::kOutput, path, ec.message(), ""};
  return {};
}

void remove_open_temporaries() {
  for (Slot& s : slots)
    if (s.state == 2)
      ::unlink(s.path);
}

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

} // namespace rankscope
