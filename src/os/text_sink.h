// TextSink: appends text to an output file through one large buffer, and compresses it with gzip if
// requested. It is for writers that format hundreds of MB/s with their own code.
#pragma once

#include "base/result.h"
#include "os/output_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace rankscope {

/// Writes a file under a temporary name. commit() ends the gzip stream, if any, and renames the
/// file.
class TextSink {
public:
  /// Creates the file `path`. `gzip`: compress it as one gzip member (ISA-L level 1). Errors:
  /// kOutput.
  static Result<TextSink> create(const std::string& path, bool gzip);
  TextSink(TextSink&&) noexcept;
  TextSink& operator=(TextSink&&) = delete;
  ~TextSink();

  void text(std::string_view s) {
    if (used_ + s.size() > kBuffer)
      flush_for(s.size());
    if (s.size() > kBuffer) {
      emit(s);
      return;
    }
    std::char_traits<char>::copy(buffer_.get() + used_, s.data(), s.size());
    used_ += s.size();
  }
  void character(char c) { text(std::string_view(&c, 1)); }
  void number(std::int64_t v);
  /// Appends nanoseconds as microseconds with exactly three decimals, as Kineto prints ts and dur.
  void microseconds(std::int64_t ns);
  /// number of bytes before compression
  [[nodiscard]] std::uint64_t bytes() const { return flushed_ + used_; }
  Result<void> commit();

private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 18;
  struct Deflate;
  TextSink(OutputFile file, bool gzip);
  void flush_for(std::size_t more);
  void emit(std::string_view s);

  OutputFile file_;
  std::unique_ptr<Deflate> deflate_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::uint64_t flushed_ = 0;
};

} // namespace rankscope
