// Splits a stream of bytes into lines, in bounded memory. The bytes arrive in pieces of any size.
#pragma once

#include "os/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rankscope {

/// Lines end at LF; a CR before it belongs to the end. A line longer than kLongest is cut at that
/// length.
class LineSplitter {
public:
  static constexpr std::size_t kLongest = std::size_t{1} << 20;

  /// Calls line(text, end) for each complete line. `text` has no line end and at most kLongest
  /// bytes; `end` is "\n" or "\r\n". `text` is a view into `bytes` if the line is in one piece.
  template <class Line> void feed(std::string_view bytes, Line&& line) {
    while (!bytes.empty()) {
      const void* found = std::memchr(bytes.data(), '\n', bytes.size());
      if (found == nullptr) {
        keep(bytes);
        return;
      }
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
      if (open_) {
        keep(bytes.substr(0, length));
        emit(begun_, line);
        begun_.clear();
        open_ = false;
      } else {
        long_lines_ += length > kLongest ? 1 : 0;
        emit(bytes.substr(0, length), line);
      }
      bytes.remove_prefix(length + 1);
    }
  }
  /// Ends the stream. A last line without an end gets the end "".
  template <class Line> void finish(Line&& line) {
    if (open_)
      line(std::string_view(begun_), std::string_view());
    begun_.clear();
    open_ = false;
  }
  [[nodiscard]] std::uint64_t long_lines() const { return long_lines_; }

private:
  void keep(std::string_view bytes) {
    open_ = true;
    if (begun_.size() <= kLongest && begun_.size() + bytes.size() > kLongest)
      ++long_lines_; // counted once per line, when it exceeds the limit
    if (begun_.size() < kLongest + 1)
      begun_.append(bytes.substr(0, kLongest + 1 - begun_.size()));
  }
  template <class Line> void emit(std::string_view text, Line& line) {
    std::string_view end("\n");
    if (!text.empty() && text.back() == '\r') {
      text.remove_suffix(1);
      end = "\r\n";
    }
    line(text.substr(0, kLongest), end);
  }

  std::string begun_; ///< a line whose end was not read yet
  bool open_ = false;
  std::uint64_t long_lines_ = 0;
};

/// Calls `line` for each line of a source, like LineSplitter::feed().
template <class Line> void each_line(ByteSource& source, Line&& line) {
  LineSplitter lines;
  std::string buffer(LineSplitter::kLongest, '\0');
  while (const std::size_t n = source.read(buffer.data(), buffer.size()))
    lines.feed(std::string_view(buffer).substr(0, n), line);
  lines.finish(line);
}

} // namespace rankscope
