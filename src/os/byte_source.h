// ByteSource: reads the bytes of a file in order and decompresses them. The format is detected from
// the content: gzip (one or more members), zstd (one or more frames) or plain. Path "-" is standard
// input.
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
  /// Opens a file and detects its compression. `is_input`: false if only the format of the file is
  /// of interest; then an output may replace it (os/input_file.h). Errors: no such file, no
  /// permission, a directory.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, bool is_input = true);

  /// Reads up to `size` bytes; fewer only at the end of the stream, 0 when no bytes are left.
  /// Damaged compressed data ends the stream early; then problem() returns the reason.
  [[nodiscard]] std::size_t read(char* out, std::size_t size);
  /// Returns up to `size` of the next bytes; read() will return them again. It is for inputs that
  /// can be read only once (a pipe) and whose format must be detected. The view is valid until the
  /// next call.
  [[nodiscard]] std::string_view peek(std::size_t size);
  /// Returns why the stream ended early (truncated or damaged gzip, read error); "" if it did not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Returns the size of the file on disk; 0 when unknown (standard input).
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  [[nodiscard]] bool compressed() const { return compressed_; }
  /// Returns a place in the stream for messages: "byte 12", or "byte 12 after unpacking".
  [[nodiscard]] std::string place(std::uint64_t offset) const;

protected:
  /// Reads bytes that peek() has not read yet.
  [[nodiscard]] virtual std::size_t read_more(char* out, std::size_t size) = 0;

  std::string problem_;
  std::uint64_t file_bytes_ = 0;
  bool compressed_ = false;

private:
  std::string seen_;          ///< bytes read by peek()
  std::size_t seen_used_ = 0; ///< number of these bytes that read() has returned
};

} // namespace rankscope
