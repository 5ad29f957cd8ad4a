#include "engine/spilled_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

Error failed(ErrorCode code, const std::string& folder, const char* what) {
  return {code, folder, std::string(what) + ": " + std::strerror(errno),
          "set TMPDIR to a folder with more free space"};
}

} // namespace

SpilledBytes::~SpilledBytes() {
  if (file_ >= 0)
    ::close(file_);
}

Result<std::uint64_t> SpilledBytes::put(std::string_view bytes) {
  if (file_ < 0 && bytes.size() <= kBlock) {
    const bool fits = !blocks_.empty() && blocks_.back().size() + bytes.size() <= kBlock;
    const std::uint64_t at =
        fits ? (blocks_.size() - 1) * kBlock + blocks_.back().size() : blocks_.size() * kBlock;
    if (at + bytes.size() <= in_memory_) {
      if (!fits)
        blocks_.emplace_back().reserve(kBlock);
      blocks_.back() += bytes;
      return at;
    }
  }
  if (file_ < 0)
    RS_CHECK(open_file());
  const std::uint64_t at = in_memory_ + file_bytes_ + pending_.size();
  pending_ += bytes;
  if (pending_.size() >= kBlock)
    RS_CHECK(flush());
  return at;
}

Result<void> SpilledBytes::open_file() {
  RS_TRY(ScratchFolder folder, ScratchFolder::create());
  folder_.emplace(std::move(folder));
  const std::string path = folder_->path() + "/rows";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0)
    return failed(ErrorCode::kOutput, path, "cannot be created");
  return {};
}

Result<void> SpilledBytes::flush() {
  std::size_t done = 0;
  while (done < pending_.size()) {
    const ssize_t n = ::pwrite(file_, pending_.data() + done, pending_.size() - done,
                               static_cast<off_t>(file_bytes_ + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed(ErrorCode::kOutput, folder_->path(),
                    "rows cannot be stored in a temporary file");
    done += static_cast<std::size_t>(n);
  }
  file_bytes_ += done;
  pending_.clear();
  return {};
}

Result<std::string> SpilledBytes::get(std::uint64_t at, std::size_t size) const {
  const auto lost = [] {
    return Error{ErrorCode::kUnreadable, "", "bytes that were never stored", ""};
  };
  if (at < in_memory_ && at / kBlock < blocks_.size()) {
    const std::string& block = blocks_[at / kBlock];
    const std::size_t from = at % kBlock;
    if (from > block.size() || size > block.size() - from)
      return lost();
    return block.substr(from, size);
  }
  if (at < in_memory_ || file_ < 0)
    return lost();
  const std::uint64_t from = at - in_memory_;
  if (from >= file_bytes_)
    return from - file_bytes_ + size <= pending_.size()
               ? Result<std::string>(pending_.substr(from - file_bytes_, size))
               : lost();
  std::string out(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t n =
        ::pread(file_, out.data() + done, size - done, static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return failed(ErrorCode::kUnreadable, folder_->path(),
                    "rows cannot be read from the temporary file");
    done += static_cast<std::size_t>(n);
  }
  return out;
}

} // namespace rankscope
