#include "os/byte_source.h"

#include "base/noncopyable.h"
#include "os/bytes_read.h"
#include "os/input_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <zstd.h>

namespace rankscope {
namespace {

std::atomic<std::uint64_t> all_bytes_read{0};

constexpr std::size_t kInputBuffer = std::size_t{256} << 10;

/// The raw file with one buffer. Decompressors read from this buffer and can check the bytes that
/// follow a member or frame.
class RawFile : NonCopyable {
public:
  explicit RawFile(int fd) : fd_(fd), buffer_(kInputBuffer) {}
  ~RawFile() {
    if (fd_ > 0)
      ::close(fd_);
  }

  /// Reads bytes into the buffer if it is empty. Returns false at the end of the file.
  bool fill() {
    if (begin_ < end_)
      return true;
    begin_ = 0;
    end_ = read_some(buffer_.data(), buffer_.size());
    return end_ > 0;
  }

  std::size_t read_some(char* out, std::size_t size) {
    for (;;) {
      const ssize_t n = ::read(fd_, out, size);
      if (n >= 0) {
        all_bytes_read.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
        return static_cast<std::size_t>(n);
      }
      if (errno != EINTR) {
        error_ = std::strerror(errno);
        return 0;
      }
    }
  }

  [[nodiscard]] const char* data() const { return buffer_.data() + begin_; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  void take(std::size_t n) { begin_ += n; }
  [[nodiscard]] const std::string& error() const { return error_; }

private:
  int fd_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string error_;
};

class PlainSource final : public ByteSource {
public:
  PlainSource(std::unique_ptr<RawFile> file, std::uint64_t bytes) : file_(std::move(file)) {
    file_bytes_ = bytes;
  }
  std::size_t read_more(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size) {
      std::size_t n = 0;
      if (file_->size() > 0) {
        n = std::min(size - got, file_->size());
        std::memcpy(out + got, file_->data(), n);
        file_->take(n);
      } else {
        n = file_->read_some(out + got, size - got);
      }
      if (n == 0)
        break;
      got += n;
    }
    problem_ = file_->error();
    return got;
  }

private:
  std::unique_ptr<RawFile> file_;
};

class GzipSource final : public ByteSource {
public:
  GzipSource(std::unique_ptr<RawFile> file, std::uint64_t bytes) : file_(std::move(file)) {
    file_bytes_ = bytes;
    compressed_ = true;
    start_member();
  }

  std::size_t read_more(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size && !done_) {
      if (member_ended_ && !next_member())
        break;
      if (!file_->fill()) {
        problem_ =
            file_->error().empty() ? "gzip stream ends early (file truncated?)" : file_->error();
        done_ = true;
        break;
      }
      const auto in_size = static_cast<std::uint32_t>(file_->size());
      const auto out_size = static_cast<std::uint32_t>(std::min<std::size_t>(size - got, 1U << 30));
      state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(file_->data()));
      state_->avail_in = in_size;
      state_->next_out = reinterpret_cast<std::uint8_t*>(out + got);
      state_->avail_out = out_size;
      const int status = isal_inflate(state_.get());
      file_->take(in_size - state_->avail_in);
      got += out_size - state_->avail_out;
      if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT) {
        problem_ = "gzip data is corrupt";
        done_ = true;
      } else if (state_->block_state == ISAL_BLOCK_FINISH) {
        member_ended_ = true;
      }
    }
    return got;
  }

private:
  void start_member() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    member_ended_ = false;
  }

  /// Starts the next gzip member if the next bytes are the gzip magic number. Other bytes after a
  /// member (padding, a signature) are ignored, as gzip itself does.
  bool next_member() {
    if (!file_->fill() || static_cast<unsigned char>(file_->data()[0]) != 0x1f ||
        (file_->size() > 1 && static_cast<unsigned char>(file_->data()[1]) != 0x8b)) {
      done_ = true;
      return false;
    }
    start_member();
    return true;
  }

  std::unique_ptr<RawFile> file_;
  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
  bool member_ended_ = false;
  bool done_ = false;
};

class ZstdSource final : public ByteSource {
public:
  ZstdSource(std::unique_ptr<RawFile> file, std::uint64_t bytes)
      : file_(std::move(file)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    file_bytes_ = bytes;
    compressed_ = true;
    ZSTD_initDStream(stream_.get());
  }

  std::size_t read_more(char* out, std::size_t size) override {
    ZSTD_outBuffer o{out, size, 0};
    while (o.pos < o.size && !done_) {
      const bool more = file_->fill();
      ZSTD_inBuffer in{file_->data(), file_->size(), 0};
      const std::size_t before = o.pos;
      const std::size_t hint = ZSTD_decompressStream(stream_.get(), &o, &in);
      file_->take(in.pos);
      if (ZSTD_isError(hint)) {
        problem_ = std::string("zstd data is corrupt: ") + ZSTD_getErrorName(hint);
        done_ = true;
      } else if (more || o.pos > before) {
        frame_open_ = hint != 0;
      } else { // the hint is about a possible next frame; all frames are complete
        done_ = true;
        if (frame_open_)
          problem_ = "zstd stream ends early (file truncated?)";
      }
    }
    return o.pos;
  }

private:
  std::unique_ptr<RawFile> file_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  bool frame_open_ = false;
  bool done_ = false;
};

} // namespace

std::uint64_t source_bytes_read() {
  return all_bytes_read.load(std::memory_order_relaxed);
}

std::size_t ByteSource::read(char* out, std::size_t size) {
  const std::size_t again = std::min(size, seen_.size() - seen_used_);
  std::memcpy(out, seen_.data() + seen_used_, again);
  seen_used_ += again;
  return again + (again < size ? read_more(out + again, size - again) : 0);
}

std::string_view ByteSource::peek(std::size_t size) {
  seen_.erase(0, std::exchange(seen_used_, 0));
  if (const std::size_t had = seen_.size(); had < size) {
    seen_.resize(size);
    seen_.resize(had + read_more(seen_.data() + had, size - had));
  }
  return std::string_view(seen_).substr(0, size);
}

std::string ByteSource::place(std::uint64_t offset) const {
  return fmt::format("byte {}{}", offset, compressed_ ? " after unpacking" : "");
}

Result<std::unique_ptr<ByteSource>> ByteSource::open(const std::string& path, bool is_input) {
  const auto unreadable = [&path](const std::string& why) {
    return Error{ErrorCode::kUnreadable, path, why, ""};
  };
  int fd = 0;
  std::uint64_t bytes = 0;
  if (path != "-") {
    fd = is_input ? open_input(path) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
      return unreadable(errno == ENXIO ? "no process writes to this pipe" : std::strerror(errno));
    struct stat info = {};
    if (::fstat(fd, &info) == 0) {
      if (S_ISDIR(info.st_mode) || S_ISCHR(info.st_mode)) {
        ::close(fd);
        if (S_ISDIR(info.st_mode))
          return Error{ErrorCode::kUnreadable, path, "is a directory, expected a file",
                       "for the traces in a folder: rankscope top, or one command per file"};
        return unreadable("is a device, expected a file");
      }
      bytes = static_cast<std::uint64_t>(info.st_size);
    }
#ifdef POSIX_FADV_SEQUENTIAL
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  }
  auto file = std::make_unique<RawFile>(fd);
  file->fill();
  const auto* head = reinterpret_cast<const unsigned char*>(file->data());
  if (file->size() >= 2 && head[0] == 0x1f && head[1] == 0x8b)
    return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(file), bytes));
  if (file->size() >= 4 && head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd)
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(file), bytes));
  // no known tool writes LZ4 traces; without this error the bytes would be reported as invalid JSON
  if (file->size() >= 4 && head[0] == 0x04 && head[1] == 0x22 && head[2] == 0x4d && head[3] == 0x18)
    return Error{ErrorCode::kUnreadable, path,
                 "is compressed with LZ4, which rankscope does not read",
                 "decompress it first (lz4 -d FILE), or compress it with zstd or gzip"};
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(file), bytes));
}

} // namespace rankscope
