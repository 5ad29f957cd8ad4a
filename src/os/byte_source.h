// ByteSource: the bytes of a file after decompression, in order, through one call. Content decides:
// gzip (one or many members), zstd (one or many frames) or plain; path "-" is standard input.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace rankscope {

class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Opens and sniffs. Errors: no such file, no permission, a directory.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path);

  /// Fills up to `size` bytes; fewer only at the end, 0 when there is no more. Damage in compressed
  /// data ends the stream early and is reported by problem().
  [[nodiscard]] std::size_t read(char* out, std::size_t size);
  /// Returns up to `size` next bytes, which read() returns again: for detecting the format of an
  /// input that can be read only once (a pipe). Valid until the next call.
  [[nodiscard]] std::string_view peek(std::size_t size);
  /// Empty, or why the stream ended early (truncated or corrupt gzip, read error).
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Size on disk, 0 when unknown (standard input).
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  [[nodiscard]] bool compressed() const { return compressed_; }

protected:
  /// Reads bytes that peek() has not read yet.
  [[nodiscard]] virtual std::size_t read_more(char* out, std::size_t size) = 0;

  std::string problem_;
  std::uint64_t file_bytes_ = 0;
  bool compressed_ = false;

private:
  std::string seen_;          ///< bytes read by peek()
  std::size_t seen_used_ = 0; ///< how many of them read() has returned
};

} // namespace rankscope
